"""The catalog and the stores as the reconciler and an examination see them, in memory."""

from collections import Counter
from collections.abc import Collection, Sequence

from services.ingestor.ports.housekeeping import AtWork, LostOriginal, Ring, StoredIndex
from services.shared.contracts.ids import IndexId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Queue
from tests.unit.ingestor.fake_catalog import SPACE

SERVING = StoredIndex(IndexId("i1"), SPACE, "ragstone-i1", level=True)
BUILDING = StoredIndex(IndexId("i2"), SPACE, "ragstone-i2", level=False)


class FakeHousekeeping:
    """``live`` says how many chunks each live version has."""

    def __init__(self) -> None:
        self.waiting: list[Ring] = []
        self.noted: list[JobId] = []
        self.known = [SERVING]
        self.gone: list[StoredIndex] = []
        self.behind: list[Ring] = []
        self.live: dict[VersionId, int] = {}
        self.working: set[VersionId] = set()
        self.batch = False
        self.busy = False
        self.failed_lately = False
        self.outdated = False
        self.mended: list[tuple[IndexId, list[VersionId]]] = []
        self.originals_gone: list[LostOriginal] = []
        self.counts: Counter[str] = Counter()
        """What a sweep finds, by name."""
        self.done: list[str] = []

    def wait(self, *jobs: str) -> None:
        self.waiting = [(Queue.INGEST, JobId(job), "") for job in jobs]

    def reap(self) -> int:
        self.done.append("reap")
        return self.counts["reap"]

    def unrung(self) -> list[Ring]:
        return self.waiting

    def rung(self, job_ids: Sequence[JobId]) -> None:
        self.noted += job_ids

    def spaces(self) -> list[SpaceId]:
        return [SPACE]

    def indexes(self) -> list[StoredIndex]:
        return self.known

    def retired(self) -> list[StoredIndex]:
        return list(self.gone)

    def forget_index(self, index: StoredIndex) -> None:
        self.gone.remove(index)

    def begin_following(self) -> list[Ring]:
        behind, self.behind = self.behind, []
        return behind

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return set(self.live) & set(versions)

    def live_count(self, space: SpaceId) -> int:
        return sum(self.live.values())

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        return dict(self.live)

    def at_work(self, space: SpaceId) -> AtWork:
        return AtWork(self.working, self.batch)

    def begin_mending(self, index: StoredIndex, versions: Sequence[VersionId], *, at_once: bool = False) -> Ring | None:
        if self.busy or (self.failed_lately and not at_once):
            return None
        self.mended.append((index.id, list(versions)))
        return Queue.INDEX, JobId(f"mend-{len(self.mended)}"), ""

    def begin_calibrating(self, space: SpaceId) -> Ring | None:
        if not self.outdated:
            return None
        self.outdated = False
        return Queue.INDEX, JobId("calibrate-1"), ""

    def discard_stale(self) -> int:
        self.done.append("discard")
        return self.counts["discard"]

    def sweep_blobs(self) -> int:
        self.done.append("blobs")
        return self.counts["blobs"]

    def prune(self) -> None:
        self.done.append("prune")

    def settle(self) -> None:
        self.done.append("settle")

    def lost_originals(self, space: SpaceId) -> list[LostOriginal]:
        return self.originals_gone


class FakeStored:
    """Collections: the number of vectors of each version."""

    def __init__(self) -> None:
        self.held: dict[IndexId, Counter[VersionId]] = {SERVING.id: Counter(), BUILDING.id: Counter()}
        self.faults: dict[IndexId, str] = {}
        self.dropped: list[IndexId] = []
        self.foreign: list[str] = []
        self.close_looks = 0

    def put(self, index: StoredIndex, version: VersionId, chunks: int) -> None:
        self.held[index.id][version] = chunks

    def count(self, index: StoredIndex) -> int:
        return sum(self.held[index.id].values())

    def sizes(self, index: StoredIndex) -> dict[VersionId, int]:
        self.close_looks += 1
        return dict(self.held[index.id])

    def delete_versions(self, index: StoredIndex, versions: Sequence[VersionId]) -> None:
        for version in versions:
            del self.held[index.id][version]

    def fault(self, index: StoredIndex) -> str | None:
        return self.faults.get(index.id)

    def drop(self, index: StoredIndex) -> None:
        self.dropped.append(index.id)
        self.faults.pop(index.id, None)
        self.held[index.id] = Counter()

    def strays(self, known: Collection[str]) -> list[str]:
        return [name for name in self.foreign if name not in known]


class FakeKeywords:
    def __init__(self) -> None:
        self.differs = (0, 0)
        self.forgotten: list[SpaceId] = []

    def difference(self, space: SpaceId) -> tuple[int, int]:
        return self.differs

    def forget(self, space: SpaceId) -> None:
        self.forgotten.append(space)
