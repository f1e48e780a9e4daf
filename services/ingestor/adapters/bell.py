"""The bell whose failures are logged and never an error: the catalog keeps the job, the reconciler rings again."""

from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import Queue
from services.shared.kit.logs import get_logger
from services.shared.kit.queue import Bell

log = get_logger(__name__)


class PatientBell:
    """Rings by Celery."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> bool:
        try:
            self._bell.ring(queue, job_id, request_id)
        except RagstoneError as error:
            log.warning("ring_lost", job_id=job_id, why=error.detail)
            return False
        return True
