"""What writing needs from outside: somebody who scores texts, a language model, and who pays for its tokens."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from services.generator.domain.prompt import Prompt
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import TextScore


@dataclass(frozen=True)
class Piece:
    """Some text of the model's stream. ``end`` is set on the last piece: "length" if the limit cut it off.

    The last piece also says how many tokens the model read and wrote by its own count, 0 where it does not count.
    """

    text: str
    end: Literal["stop", "length"] | None = None
    prompt_tokens: int = 0
    answer_tokens: int = 0


class Scorer(Protocol):
    """Compares a text with others, by meaning and by words."""

    async def score(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[TextScore]:
        """One score a text, in order. Raises RagstoneError when scores are not to be had."""
        ...

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """Whether each evidence supports its claim, in order. Raises RagstoneError when that is not to be had."""
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

    @property
    def wanted(self) -> bool:
        """Whether its absence is worth telling: it was asked for, or it has been there before."""
        ...

    @property
    def cold(self) -> bool:
        """Whether the model is there but has to be warmed up."""
        ...

    @property
    def obeys_schema(self) -> bool | None:
        """Whether replies keep to a schema, as the last warm-up saw; None when that is not known."""
        ...

    def state(self) -> PartHealth:
        """What the last look at the server found; cheap. Not ready either while the model is being loaded."""
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

    async def complete(self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int) -> Piece:
        """The model's whole reply to a prompt, as one piece; a server that can keeps it to the JSON ``schema``.

        Whether it did is for the caller to see. Queue, limits and errors are those of write(); cancelling stops the
        model.
        """
        ...

    async def count_tokens(self, text: str) -> int | None:
        """How many tokens the text is by the model's own count; None where the server does not count. Never raises."""
        ...

    async def probe(self) -> None:
        """Look whether the server answers and holds the model. Never raises; ``state()`` says what was found."""
        ...

    async def warm_up(self) -> None:
        """Have the model loaded, within the limit of a cold load, and try it out.

        Never raises; ``state()`` says how it went.
        """
        ...


class Budget(Protocol):
    """Tokens that one client may use of the model in a day; ``own`` is that client's own limit, None the setting's."""

    async def left(self, client: str, own: int | None) -> bool:
        """Whether anything is left today; True where that cannot be known."""
        ...

    async def spend(self, client: str, tokens: int, own: int | None) -> None:
        """Count tokens that a client has used. Never raises."""
        ...
