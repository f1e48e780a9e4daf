"""What building an index beside the serving one needs from outside."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from services.ingestor.domain.documents import StoredChunk
from services.ingestor.ports.content import Target
from services.ingestor.ports.jobs import ClaimedJob
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexComparison, IndexPhase
from services.shared.contracts.jobs import Queue


class TakenOut(Exception):
    """The index was retired or serves by now; nothing of the transaction was kept."""


@dataclass(frozen=True)
class SecondIndex:
    """An index as the catalog records it."""

    id: IndexId
    space: SpaceId
    phase: IndexPhase
    embedder: str
    """Its embedder's name."""
    target: Target | None
    """None until the embedder was loaded once."""
    built_to: ChunkId | None
    vectors: int
    truncated: int
    comparison: IndexComparison | None
    reason: str | None
    promotion: Literal["asked", "forced"] | None


@dataclass(frozen=True)
class Amounts:
    """What an index holds."""

    vectors: int
    truncated: int
    """Chunks that were longer than the embedder reads, as counted when they were embedded."""


@dataclass(frozen=True)
class Behind:
    """What an index has not followed yet, as one moment saw it: up to change ``seq``, in ``changes`` steps."""

    seq: int
    changes: int
    live: Sequence[VersionId]
    dead: Sequence[VersionId]
    more: bool
    """There are later changes."""


@dataclass(frozen=True)
class Promoted:
    """What became of a promotion: ``none`` was wished for; it is ``behind``; it was ``refused``; it ``serves``."""

    outcome: Literal["none", "behind", "refused", "serves"]
    why: str | None = None
    rings: Sequence[tuple[Queue, JobId, str]] = ()


class SecondIndexes(Protocol):
    """Indexes in the catalog. Each call is one transaction; those that take the job change nothing when its lease is
    lost (LeaseLost) or the index is not to be worked on any more (TakenOut).

    Raises RagstoneError (catalog_unavailable).
    """

    def find(self, index_id: IndexId) -> SecondIndex | None: ...
    def settle(self, job: ClaimedJob, index: SecondIndex) -> None:
        """Load the embedder by its name and record its identity.

        Raises RagstoneError (model_unavailable; index_state_conflict: it fills the serving index already).
        """

    def serving(self, space: SpaceId) -> IndexId | None: ...
    def live_count(self, space: SpaceId) -> int:
        """Live chunks."""

    def chunks_after(self, space: SpaceId, after: ChunkId | None, limit: int) -> list[StoredChunk]:
        """The next live chunks by id."""

    def behind(self, index_id: IndexId, limit: int) -> Behind: ...
    def note_built(self, job: ClaimedJob, index_id: IndexId, to: ChunkId | None, amounts: Amounts, pace: float) -> None:
        """Live chunks up to ``to`` have their vectors; ``pace`` in chunks a second."""

    def note_followed(self, job: ClaimedJob, index_id: IndexId, seq: int, amounts: Amounts) -> None: ...
    def ready(self, job: ClaimedJob, index_id: IndexId, comparison: IndexComparison | None, reason: str | None) -> None:
        """It could serve; ``reason`` says why it was not compared."""

    def promote(self, job: ClaimedJob, index_id: IndexId) -> Promoted:
        """Let it serve if that is wished for, it is level, and not worse unless forced."""

    def forget(self, index_id: IndexId) -> None:
        """Take the record of a retired one out."""


class SecondVectors(Protocol):
    """Vectors of one index. Raises RagstoneError (vector_store_unavailable)."""

    def count(self, target: Target) -> int: ...
    def delete_versions(self, target: Target, versions: Sequence[VersionId]) -> None:
        """Take these versions' vectors out of this index alone."""

    def drop(self, index_id: IndexId) -> None:
        """Delete the index's collection, if there is one."""


@dataclass(frozen=True)
class Stretch:
    """A passage that was found, in code points of the live text."""

    document_id: DocumentId
    start: int
    end: int


@dataclass(frozen=True)
class Ranking:
    """What a search found, best first, and what it had to do without."""

    found: Sequence[Stretch]
    degraded: Collection[str]
    seq: int


class Rankings(Protocol):
    """The retriever, asked directly."""

    def look(self, space: SpaceId, question: str, index_id: IndexId, top_k: int) -> Ranking:
        """As a visitor would be served if this index served. Raises RagstoneError (retriever_unavailable, busy)."""


class ComparisonContent(Protocol):
    """The golden set and the live texts. Raises RagstoneError (catalog_unavailable)."""

    def approved(self, space: SpaceId) -> list[Question]:
        """Golden questions that the owner stands behind, without flagged ones."""

    def texts(self, space: SpaceId, ids: Collection[DocumentId]) -> dict[DocumentId, str]:
        """The extracted texts of these documents' live versions; one that is not live is left out."""


@dataclass(frozen=True)
class ReembeddingTools:
    """What second indexes are built with, beside a worker's own tools."""

    records: SecondIndexes
    vectors: SecondVectors
    rankings: Callable[[], AbstractContextManager[Rankings]]
    content: ComparisonContent
