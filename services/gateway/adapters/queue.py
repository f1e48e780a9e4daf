"""Rings for workers over Celery; what cannot be rung now is rung by the reconciler later."""

from collections.abc import Sequence
from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.shared.catalog import jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import Queue
from services.shared.kit.logs import get_logger
from services.shared.kit.queue import Bell

log = get_logger(__name__)


class WorkerBell:
    """Notes in the catalog what was rung for, so that nobody rings for it again soon."""

    def __init__(self, bell: Bell, catalog: Catalog) -> None:
        self._bell = bell
        self._catalog = catalog

    async def ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        """Ring for each job. The first ring that fails ends it: with Redis down, each would wait in vain."""
        await run_sync(self._ring, queue, job_ids, request_id)

    def _ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        rung: list[JobId] = []
        try:
            for job_id in job_ids:
                self._bell.ring(queue, job_id, request_id)
                rung.append(job_id)
        except RagstoneError as error:
            log.warning("bell_not_rung", jobs=len(job_ids) - len(rung), why=error.detail)
        if not rung:
            return
        try:
            with self._catalog.write() as tx:
                jobs.rung(tx, rung, datetime.now(UTC))
        except RagstoneError as error:
            log.warning("ring_not_noted", jobs=len(rung), why=error.detail)
