"""What nobody else looks after: lost workers, lost messages, and what failures left behind."""

from collections.abc import Callable, Iterable

from services.ingestor.domain.leftovers import Suspects
from services.ingestor.domain.lost import missing_vectors, share_of_one_job
from services.ingestor.ports.housekeeping import Housekeeping, Ring, StoredIndex, StoredVectors
from services.ingestor.ports.jobs import Doorbell
from services.shared.contracts.ids import IndexId, VersionId

CLOSE_LOOK_S = 900.0
"""Vectors of versions that are on their way in, or wait for the sweep, can hide from a count that others are lost."""

DAMAGE_GRACE_S = 120.0
"""A collection is made anew when it was found unusable at every look for this long, while its server answered."""

WHOLE = VersionId("")
"""Stands for all versions of an index among its suspects."""


class Reconciler:
    """Compares what is with what should be, and repairs the difference. Every step may be run at any time."""

    def __init__(
        self,
        catalog: Housekeeping,
        vectors: StoredVectors,
        bell: Doorbell,
        clock: Callable[[], float],
        *,
        sweep_grace_s: float,
        mend_grace_s: float,
        damage_grace_s: float = DAMAGE_GRACE_S,
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._bell = bell
        self._clock = clock
        self._unused = Suspects(sweep_grace_s)
        self._incomplete = Suspects(mend_grace_s)
        self._damaged = Suspects(damage_grace_s)
        self._looked_closely: dict[IndexId, float] = {}
        self._lost: dict[IndexId, tuple[StoredIndex, dict[VersionId, int]]] = {}

    def take_back(self) -> None:
        """Jobs of workers that died or fell silent wait again, or fail for good."""
        self._catalog.reap()

    def ring_again(self) -> None:
        """Ring for jobs that wait without a message; stops at the first ring that does not get through."""
        self._ring(self._catalog.unrung())

    def follow_changes(self) -> None:
        """Have indexes built or brought level that do not serve, once no job is at it."""
        self._ring(self._catalog.begin_following())

    def remove_retired(self) -> None:
        """Delete the vectors of indexes that nothing leads back to."""
        for index in self._catalog.retired():
            self._vectors.drop(index)
            self._catalog.forget_index(index)

    def set_right(self) -> None:
        """Delete collections that cannot serve: what is live is then missing, and mended."""
        for index in self._catalog.indexes():
            seen = [WHOLE] if self._vectors.fault(index) is not None else []
            if self._damaged.ripe(index.id, seen, self._clock()):
                self._vectors.drop(index)

    def sweep_vectors(self) -> None:
        """Delete vectors of versions that neither answer nor are being brought in."""
        for index in self._catalog.indexes():
            # In this order: a version that is published between two of these looks is seen as live.
            present = set(self._vectors.sizes(index))
            at_work = self._catalog.at_work(index.space)
            if at_work.batch:
                continue
            unused = present - at_work.versions - self._catalog.live_versions(index.space, present)
            ripe = self._unused.ripe(index.id, unused, self._clock())
            if ripe:
                self._vectors.delete_versions(index, ripe)

    def look_for_lost_vectors(self) -> None:
        """Find live versions that lack vectors, and lacked them at a look before."""
        for index in self._catalog.indexes():
            if not index.level or not self._calls_for_a_close_look(index):
                continue
            # In this order: a version goes live when its vectors are stored, and a mending ends when they are.
            live = self._catalog.live_sizes(index.space)
            at_work = self._catalog.at_work(index.space)
            missing = missing_vectors(live, self._vectors.sizes(index), at_work.versions)
            ripe = self._incomplete.ripe(index.id, missing, self._clock())
            self._lost[index.id] = index, {version: missing[version] for version in ripe}

    def mend_vectors(self) -> None:
        """Have lost vectors made again, a job at a time in each index."""
        for index, lost in list(self._lost.values()):
            share = share_of_one_job(lost)
            job = self._catalog.begin_mending(index, share) if share else None
            if job is None:
                continue
            self._lost[index.id] = (
                index,
                {version: missing for version, missing in lost.items() if version not in share},
            )
            self._ring([job])

    def calibrate_again(self) -> None:
        """Have spaces calibrated anew whose content changed much since they were, once no document is at work."""
        for space in self._catalog.spaces():
            job = self._catalog.begin_calibrating(space)
            if job is not None:
                self._ring([job])

    def sweep_catalog(self) -> None:
        """Forget staged versions, originals and jobs that nobody needs any more."""
        self._catalog.discard_stale()
        self._catalog.sweep_blobs()
        self._catalog.prune()
        self._catalog.settle()

    def _calls_for_a_close_look(self, index: StoredIndex) -> bool:
        """A close look reads the whole index; without a sign of loss it is taken now and then only."""
        now = self._clock()
        last = self._looked_closely.get(index.id)
        called_for = (
            last is None
            or now - last >= CLOSE_LOOK_S
            or self._incomplete.watches(index.id)
            or self._vectors.count(index) < self._catalog.live_count(index.space)
        )
        if called_for:
            self._looked_closely[index.id] = now
        return called_for

    def _ring(self, jobs: Iterable[Ring]) -> None:
        delivered = []
        for queue, job_id, request_id in jobs:
            if not self._bell.ring(queue, job_id, request_id):
                break
            delivered.append(job_id)
        if delivered:
            self._catalog.rung(delivered)
