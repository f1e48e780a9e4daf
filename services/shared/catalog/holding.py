"""A thread that keeps leases alive, and learns of cancellations and of jobs that somebody else has now."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from services.shared.catalog import jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

LONGEST_PAUSE_S = 2.0
"""A person who cancels should not wait for a quarter of a long lease."""


class HeldLease:
    """The jobs that are still this worker's to finish."""

    def __init__(self, job_ids: Sequence[JobId]) -> None:
        self.kept = frozenset(job_ids)
        self._changing = threading.Lock()

    def keeps(self, job_id: JobId) -> bool:
        """Still ours, and nobody asked to cancel it."""
        return job_id in self.kept

    def take(self, job_ids: Sequence[JobId]) -> None:
        """Keep these jobs' leases alive as well."""
        with self._changing:
            self.kept = self.kept.union(job_ids)

    def lose(self, job_ids: frozenset[JobId]) -> None:
        """These are somebody else's now, or over, or asked to cancel."""
        with self._changing:
            self.kept = self.kept - job_ids


class Heartbeats:
    """Leases for one worker process. Between two renewals the jobs are looked at every ``look_every_s`` seconds, for
    work that is to stop sooner than the leases need renewing."""

    def __init__(
        self,
        catalog: Catalog,
        owner: str,
        lease_s: float,
        now: Callable[[], datetime],
        look_every_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self._catalog = catalog
        self._owner = owner
        self._lease_s = lease_s
        self._now = now
        self._renew_every_s = min(lease_s / 4, LONGEST_PAUSE_S)
        self._pause_s = min(self._renew_every_s, look_every_s)

    @contextmanager
    def hold(self, job_ids: Sequence[JobId]) -> Iterator[HeldLease]:
        """Renew the leases of these jobs, and of those taken later, until the block ends."""
        lease = HeldLease(job_ids)
        stop = threading.Event()
        thread = threading.Thread(target=self._beat, args=(lease, stop), name="heartbeat", daemon=True)
        thread.start()
        try:
            yield lease
        finally:
            stop.set()
            thread.join()

    def _beat(self, lease: HeldLease, stop: threading.Event) -> None:
        renewed = due = time.monotonic()
        while not stop.wait(self._pause_s):
            held = lease.kept
            if not held:
                continue
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + self._renew_every_s - self._pause_s
                    lease.lose(held - self._renewed(held))
                    renewed = time.monotonic()
                else:
                    lease.lose(held - self._seen(held))
            except RagstoneError as error:
                log.warning("heartbeat_missed", why=error.detail)
                if time.monotonic() - renewed > self._lease_s:
                    # By now the jobs may be another worker's; the catalog would refuse our results anyway.
                    lease.lose(held)

    def _renewed(self, held: frozenset[JobId]) -> set[JobId]:
        with self._catalog.write() as tx:
            return jobs.heartbeat(tx, held, self._owner, self._lease_s, self._now())

    def _seen(self, held: frozenset[JobId]) -> set[JobId]:
        with self._catalog.read() as tx:
            return jobs.held(tx, held, self._owner)
