"""What the reconciler needs from outside."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.ids import JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Queue


@dataclass(frozen=True)
class AtWork:
    """What waiting and running jobs of a space are about."""

    versions: set[VersionId]
    batch: bool
    """A batch is among the jobs: it brings in versions that nobody can name."""


class Housekeeping(Protocol):
    """What the reconciler does to the catalog; each call is one transaction or a few short ones."""

    def reap(self) -> None: ...
    def unrung(self) -> list[tuple[Queue, JobId, str]]: ...
    def rung(self, job_ids: Sequence[JobId]) -> None: ...
    def spaces(self) -> list[SpaceId]: ...
    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]: ...
    def live_count(self, space: SpaceId) -> int:
        """Live chunks of the space."""

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Chunks of each live version."""

    def at_work(self, space: SpaceId) -> AtWork: ...
    def begin_mending(self, space: SpaceId, versions: Sequence[VersionId]) -> tuple[Queue, JobId, str] | None:
        """Create a job that makes the versions' vectors again, to be rung for.

        None, and no job, while another one of the space waits or runs, and for a while after one failed.
        """

    def begin_calibrating(self, space: SpaceId) -> tuple[Queue, JobId, str] | None:
        """Create a job that calibrates the space anew, to be rung for, when that is due and no document is at work.

        None, and no job, otherwise.
        """

    def discard_stale(self) -> None: ...
    def sweep_blobs(self) -> None: ...
    def prune(self) -> None: ...


class StoredVectors(Protocol):
    """The vector store as the reconciler sees it."""

    def count(self, space: SpaceId) -> int: ...
    def sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Vectors of each version that has any; reads the whole index."""

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None: ...
