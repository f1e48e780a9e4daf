"""Stand-ins for the generator's ports, and passages to write from."""

from collections.abc import AsyncGenerator, Sequence

from services.generator.domain import terms
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
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
    """Scores by shared words; broken on demand."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.asked: list[tuple[str, list[str]]] = []

    async def score(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[TextScore]:
        """Shared words as similarity and coverage."""
        self.asked.append((question, list(texts)))
        if self.broken:
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "gone")
        shares = [terms.overlap(question, text) for text in texts]
        return [TextScore(similarity=share, coverage=share) for share in shares]

    async def ready(self) -> PartHealth:
        """As broken as it is."""
        return PartHealth(ready=not self.broken, detail="")


class FakeWriter:
    """Plays pieces, then ends as told: "stop", "length", or an error."""

    kind = "fake"
    name = "fake:1b"

    def __init__(
        self,
        *pieces: str,
        end: str = "stop",
        ready: bool = True,
        busy: bool = False,
        window: tuple[int, int] = (8192, 400),
    ) -> None:
        self._pieces = pieces
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
            yield Piece("", "length" if self._end == "length" else "stop")
        finally:
            self.closed += 1
