"""What the parts of retrieval hand each other: hits, lists of hits, live chunks, drops."""

from dataclasses import dataclass

from services.shared.contracts.calibration import Calibration
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.places import Place


@dataclass(frozen=True)
class Hit:
    """An id that an index proposes. ``value`` is a cosine distance or a BM25 score, as the list's kind says."""

    chunk_id: ChunkId
    value: float


@dataclass(frozen=True)
class RankedList:
    """The live hits of one index for one question, best first. Question 0 is the question, n the n-th sub-question."""

    kind: str
    question: int
    hits: tuple[Hit, ...]

    @property
    def name(self) -> str:
        """How ranks and traces name the list, e.g. ``vector:0``."""
        return f"{self.kind}:{self.question}"


@dataclass(frozen=True)
class Chunk:
    """A live chunk as the catalog has it; see ``contracts.search.Passage`` for the offsets."""

    id: ChunkId
    document_id: DocumentId
    version_id: VersionId
    title: str
    section: str
    type: str | None
    tags: tuple[str, ...]
    source: str | None
    text: str
    lead: int
    start: int
    end: int
    kind: str
    search_text: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Drop:
    """A hit that was found and not used, and why; for the trace."""

    chunk_id: ChunkId
    where: str
    reason: str


@dataclass(frozen=True)
class EmbedderIdentity:
    """What must be the same for two vectors to be comparable."""

    name: str
    revision: str
    dimension: int
    query_prompt: str
    document_prompt: str


@dataclass(frozen=True)
class ServingIndex:
    """The index that answers for a space."""

    id: IndexId
    space: SpaceId
    embedder: EmbedderIdentity


@dataclass(frozen=True)
class SpaceState:
    """Where the catalog stands: its change number, the index that serves (None before the first document), and what
    was fitted for that index."""

    seq: int
    index: ServingIndex | None
    calibration: Calibration | None = None


@dataclass(frozen=True)
class Covered:
    """How much of a question its best BM25 passage holds, and how rare the question's rarest word is; 0 to 1."""

    share: float
    rarity: float


@dataclass(frozen=True)
class Leg:
    """What one index found for every question; ``covered`` belongs to the lists of BM25."""

    lists: tuple[RankedList, ...] = ()
    covered: tuple[Covered, ...] = ()
    drops: tuple[Drop, ...] = ()


NOTHING = Leg()
