"""Stand-ins for the generator's ports, and passages to write from."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from services.generator.domain import terms
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import DEFAULT_SPACE, ChunkId, DocumentId, SpaceId, VersionId
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import WriteRequest


def passage(
    text: str, *, title: str = "", section: str = "", kind: str = "fact", lead: int = 0, source: str | None = None
) -> Passage:
    """A found chunk with this text."""
    return Passage(
        chunk_id=ChunkId("c"),
        document_id=DocumentId("d"),
        version=VersionId("v"),
        title=title,
        section=section,
        type=None,
        text=text,
        lead=lead,
        start=0,
        end=len(text) - lead,
        source=source,
        tags=[],
        kind=kind,
        score=0.1,
        distance=0.3,
        bm25=None,
        critic=None,
        ranks={},
    )


def request(question: str, *passages: Passage) -> WriteRequest:
    """A writing to be done."""
    return WriteRequest(
        space=DEFAULT_SPACE, question=question, passages=list(passages), persona="A guide to Juno.", language="en"
    )


class FakeScorer:
    """Scores by shared words, or as similar as told for texts that hold a word; broken on demand."""

    def __init__(
        self, *, broken: bool = False, no_grounding: bool = False, similar: dict[str, float] | None = None
    ) -> None:
        self._similar = similar or {}
        self.broken = broken
        self.no_grounding = no_grounding
        self.grounded: list[list[Pair]] = []
        self.asked: list[tuple[str, list[str]]] = []

    async def score(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[TextScore]:
        """Shared words as similarity and coverage."""
        self.asked.append((question, list(texts)))
        if self.broken:
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "gone")
        shares = [terms.overlap(question, text) for text in texts]
        told = [next((near for word, near in self._similar.items() if word in text), None) for text in texts]
        return [
            TextScore(similarity=share if near is None else near, coverage=share)
            for share, near in zip(shares, told, strict=True)
        ]

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """Shared words as support; as unavailable as told."""
        self.grounded.append(list(pairs))
        if self.broken or self.no_grounding:
            raise RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "no model")
        return [Grounding(supported=terms.overlap(one.claim, one.evidence), contradicted=0.0) for one in pairs]

    async def ready(self) -> PartHealth:
        """As broken as it is."""
        return PartHealth(ready=not self.broken, detail="")


class FakeWriter:
    """Plays pieces, then ends as told: "stop", "length", or an error."""

    kind = "fake"
    name = "fake:1b"
    cold = False

    def __init__(
        self,
        *pieces: str,
        end: str = "stop",
        ready: bool = True,
        busy: bool = False,
        window: tuple[int, int] = (8192, 400),
        wanted: bool = True,
        replies: Sequence[str | RagstoneError] = (),
        used: tuple[int, int] = (0, 0),
        obeys_schema: bool | None = True,
    ) -> None:
        self.obeys_schema = obeys_schema
        self._pieces = pieces
        self.wanted = wanted
        self._replies = list(replies)
        self._used = used
        self.completed: list[tuple[Prompt, dict[str, Any] | None, int]] = []
        self._end = end
        self._ready = ready
        self._busy = busy
        self.window = window
        self.prompts: list[Prompt] = []
        self.closed = 0

    def state(self) -> PartHealth:
        """As told."""
        return PartHealth(ready=self._ready, detail="")

    def check_room(self) -> None:
        """As told."""
        if self._busy:
            raise RagstoneError(ErrorCode.BUSY, "full", retry_after_s=1)

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The pieces, then the end."""
        self.prompts.append(prompt)
        try:
            for text in self._pieces:
                yield Piece(text)
            if self._end == "error":
                raise RagstoneError(ErrorCode.WRITER_UNAVAILABLE, "broke off")
            yield Piece("", "length" if self._end == "length" else "stop", *self._used)
        finally:
            self.closed += 1

    async def complete(self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int) -> Piece:
        """The next of the replies; an error among them is raised."""
        self.completed.append((prompt, schema, max_tokens))
        reply = self._replies.pop(0)
        if isinstance(reply, RagstoneError):
            raise reply
        return Piece(reply, "stop", *self._used)

    async def count_tokens(self, text: str) -> int | None:
        """It does not count."""
        return None

    async def probe(self) -> None:
        """Finds what it was told to be."""

    async def warm_up(self) -> None:
        """Is warm."""


class FakeBudget:
    """Enough for ``tokens`` a client; no limit when None."""

    def __init__(self, tokens: int | None = None) -> None:
        self._tokens = tokens
        self.spent: dict[str, int] = {}

    async def left(self, client: str, own: int | None) -> bool:
        """Whether anything is left."""
        limit = self._tokens if own is None else own or None
        return limit is None or self.spent.get(client, 0) < limit

    async def spend(self, client: str, tokens: int, own: int | None) -> None:
        """Counts."""
        self.spent[client] = self.spent.get(client, 0) + tokens
