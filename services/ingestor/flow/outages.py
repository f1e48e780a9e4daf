"""What an error does to a job: the job's own failure ends it, an outage only puts it off."""

from services.ingestor.domain.reasons import passes, reason_of
from services.ingestor.ports.jobs import ClaimedJob, Ledger


def fail_or_put_off(ledger: Ledger, job: ClaimedJob, error: Exception, name: str) -> bool:
    """End the job with a reason that begins with ``name``, or put it off; True when it failed under our lease."""
    reason = reason_of(error, name)
    if passes(error):
        ledger.put_off(job, reason)
        return False
    return ledger.fail(job, reason)
