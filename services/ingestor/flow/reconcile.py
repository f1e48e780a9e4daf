"""What nobody else looks after: lost workers, lost messages, and what failures left behind."""

from collections.abc import Callable

from services.ingestor.domain.leftovers import Suspects
from services.ingestor.ports import Doorbell, Housekeeping, StoredVectors


class Reconciler:
    """Compares what is with what should be, and repairs the difference. Every step may be run at any time."""

    def __init__(
        self,
        catalog: Housekeeping,
        vectors: StoredVectors,
        bell: Doorbell,
        clock: Callable[[], float],
        sweep_grace_s: float,
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._bell = bell
        self._clock = clock
        self._suspects = Suspects(sweep_grace_s)

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
            present = self._vectors.versions(space)
            at_work = self._catalog.versions_at_work(space)
            if at_work is None:
                continue
            unused = present - at_work - self._catalog.live_versions(space, present)
            ripe = self._suspects.ripe(space, unused, self._clock())
            if ripe:
                self._vectors.delete_versions(space, ripe)

    def sweep_catalog(self) -> None:
        """Forget staged versions, originals and jobs that nobody needs any more."""
        self._catalog.discard_stale()
        self._catalog.sweep_blobs()
        self._catalog.prune()
