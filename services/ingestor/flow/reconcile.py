"""What nobody else looks after: lost workers, lost messages, and what failures left behind."""

from collections.abc import Callable

from services.ingestor.domain.leftovers import Suspects
from services.ingestor.domain.lost import missing_vectors, share_of_one_job
from services.ingestor.ports.housekeeping import Housekeeping, StoredVectors
from services.ingestor.ports.jobs import Doorbell
from services.shared.contracts.ids import SpaceId, VersionId

CLOSE_LOOK_S = 900.0
"""Vectors of versions that are on their way in, or wait for the sweep, can hide from a count that others are lost."""


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
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._bell = bell
        self._clock = clock
        self._unused = Suspects(sweep_grace_s)
        self._incomplete = Suspects(mend_grace_s)
        self._looked_closely: dict[SpaceId, float] = {}
        self._lost: dict[SpaceId, dict[VersionId, int]] = {}

    def take_back(self) -> None:
        """Jobs of workers that died or fell silent wait again, or fail for good."""
        self._catalog.reap()

    def ring_again(self) -> None:
        """Ring for jobs that wait without a message; stops at the first ring that does not get through."""
        delivered = []
        for queue, job_id, request_id in self._catalog.unrung():
            if not self._bell.ring(queue, job_id, request_id):
                break
            delivered.append(job_id)
        if delivered:
            self._catalog.rung(delivered)

    def sweep_vectors(self) -> None:
        """Delete vectors of versions that neither answer nor are being brought in."""
        for space in self._catalog.spaces():
            # In this order: a version that is published between two of these looks is seen as live.
            present = set(self._vectors.sizes(space))
            at_work = self._catalog.at_work(space)
            if at_work.batch:
                continue
            unused = present - at_work.versions - self._catalog.live_versions(space, present)
            ripe = self._unused.ripe(space, unused, self._clock())
            if ripe:
                self._vectors.delete_versions(space, ripe)

    def look_for_lost_vectors(self) -> None:
        """Find live versions that lack vectors, and lacked them at a look before."""
        for space in self._catalog.spaces():
            if not self._calls_for_a_close_look(space):
                continue
            # In this order: a version goes live when its vectors are stored, and a mending ends when they are.
            live = self._catalog.live_sizes(space)
            at_work = self._catalog.at_work(space)
            missing = missing_vectors(live, self._vectors.sizes(space), at_work.versions)
            ripe = self._incomplete.ripe(space, missing, self._clock())
            self._lost[space] = {version: missing[version] for version in ripe}

    def mend_vectors(self) -> None:
        """Have lost vectors made again, a job at a time in each space."""
        for space, lost in self._lost.items():
            share = share_of_one_job(lost)
            job = self._catalog.begin_mending(space, share) if share else None
            if job is None:
                continue
            self._lost[space] = {version: missing for version, missing in lost.items() if version not in share}
            if self._bell.ring(*job):
                self._catalog.rung([job[1]])

    def calibrate_again(self) -> None:
        """Have spaces calibrated anew whose content changed much since they were, once no document is at work."""
        for space in self._catalog.spaces():
            job = self._catalog.begin_calibrating(space)
            if job is not None and self._bell.ring(*job):
                self._catalog.rung([job[1]])

    def _calls_for_a_close_look(self, space: SpaceId) -> bool:
        """A close look reads the whole index; without a sign of loss it is taken now and then only."""
        now = self._clock()
        last = self._looked_closely.get(space)
        called_for = (
            last is None
            or now - last >= CLOSE_LOOK_S
            or self._incomplete.watches(space)
            or self._vectors.count(space) < self._catalog.live_count(space)
        )
        if called_for:
            self._looked_closely[space] = now
        return called_for

    def sweep_catalog(self) -> None:
        """Forget staged versions, originals and jobs that nobody needs any more."""
        self._catalog.discard_stale()
        self._catalog.sweep_blobs()
        self._catalog.prune()
