"""What the reconciler needs from outside."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.ids import IndexId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Queue

Ring = tuple[Queue, JobId, str]
"""A job to be rung for: its queue, its id, and the id of the request that it goes back to."""


@dataclass(frozen=True)
class AtWork:
    """What waiting and running jobs of a space are about."""

    versions: set[VersionId]
    batch: bool
    """A batch is among the jobs: it brings in versions that nobody can name."""


@dataclass(frozen=True)
class StoredIndex:
    """An index that has its vectors in a collection."""

    id: IndexId
    space: SpaceId
    collection: str
    level: bool
    """It holds all that is live, so that what it lacks was lost; one that is built or lags does not yet."""


@dataclass(frozen=True)
class LostOriginal:
    """A live document whose original bytes are not on disk any more."""

    document_id: str
    sha256: str


class Housekeeping(Protocol):
    """What the reconciler does to the catalog; each call is one transaction or a few short ones."""

    def reap(self) -> int:
        """Take jobs back whose worker died or fell silent; how many."""

    def unrung(self) -> list[Ring]: ...
    def rung(self, job_ids: Sequence[JobId]) -> None: ...
    def spaces(self) -> list[SpaceId]:
        """Every space that holds an index."""

    def indexes(self) -> list[StoredIndex]:
        """Every index of every space that is not retired, the serving one of a space first."""

    def retired(self) -> list[StoredIndex]:
        """Indexes that nothing leads back to, whose collections are to go."""

    def forget_index(self, index: StoredIndex) -> None:
        """Drop the record of a retired index."""

    def begin_following(self) -> list[Ring]:
        """Create a job for each index that is to be built or brought level and has none."""

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]: ...
    def live_count(self, space: SpaceId) -> int:
        """Live chunks of the space."""

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Chunks of each live version."""

    def at_work(self, space: SpaceId) -> AtWork: ...
    def begin_mending(self, index: StoredIndex, versions: Sequence[VersionId], *, at_once: bool = False) -> Ring | None:
        """Create a job that makes the versions' vectors again, to be rung for.

        None, and no job, while another one of the index waits or runs, and, unless ``at_once``, for a while after one
        failed.
        """

    def begin_calibrating(self, space: SpaceId) -> Ring | None:
        """Create a job that calibrates the space anew, to be rung for, when that is due and no document is at work.

        None, and no job, otherwise.
        """

    def discard_stale(self) -> int: ...
    def sweep_blobs(self) -> int: ...
    def prune(self) -> None: ...
    def settle(self) -> None:
        """Leave nothing of what was deleted in the database's files."""

    def lost_originals(self, space: SpaceId) -> list[LostOriginal]: ...


class StoredVectors(Protocol):
    """The vector store as the reconciler sees it. Raises RagstoneError (vector_store_unavailable)."""

    def count(self, index: StoredIndex) -> int: ...
    def sizes(self, index: StoredIndex) -> dict[VersionId, int]:
        """Vectors of each version that has any; reads the whole index."""

    def delete_versions(self, index: StoredIndex, versions: Sequence[VersionId]) -> None: ...
    def fault(self, index: StoredIndex) -> str | None:
        """Why the collection cannot serve its index: another metric or width, damaged files; None when it can, or
        when there is none yet."""

    def drop(self, index: StoredIndex) -> None:
        """Delete the collection; one that is not there is no error."""

    def strays(self, known: Collection[str]) -> list[str]:
        """Collections with a name as ours have it that are none of the known ones."""


class KeywordIndex(Protocol):
    """The keyword index that the retriever saved, brought level with the catalog."""

    def difference(self, space: SpaceId) -> tuple[int, int]:
        """Live chunks that it lacks, and chunks it holds that are not live."""

    def forget(self, space: SpaceId) -> None:
        """Delete what is saved, so that it is built again from the catalog."""
