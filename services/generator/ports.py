"""What writing needs from outside: somebody who scores texts, and a language model."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from services.generator.domain.prompt import Prompt
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import TextScore


@dataclass(frozen=True)
class Piece:
    """Some text of the model's stream. ``end`` is set on the last piece: "length" if the limit cut it off."""

    text: str
    end: Literal["stop", "length"] | None = None


class Scorer(Protocol):
    """Compares a text with others, by meaning and by words."""

    async def score(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[TextScore]:
        """One score a text, in order. Raises RagstoneError when scores are not to be had."""
        ...

    async def ready(self) -> PartHealth:
        """Whether the scorer can be reached."""
        ...


class Writer(Protocol):
    """A language model behind a server."""

    @property
    def kind(self) -> str:
        """Which of the writers this is, as answers name it."""
        ...

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def window(self) -> tuple[int, int]:
        """Tokens that prompt and answer share, and those kept for the answer."""
        ...

    def state(self) -> PartHealth:
        """What the last look at the server found; cheap."""
        ...

    def check_room(self) -> None:
        """Raises RagstoneError(BUSY) when one more question would find no place, not even in the queue."""
        ...

    def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The raw stream; the last piece has ``end`` set.

        Closing the iteration stops the model. Raises RagstoneError: BUSY, or WRITER_UNAVAILABLE for any failure,
        also in the middle.
        """
        ...
