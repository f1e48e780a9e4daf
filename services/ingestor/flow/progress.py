"""How far the jobs are, told often enough for a person and seldom enough for the catalog."""

from collections.abc import Callable, Iterable

from services.ingestor.ports.jobs import Ledger, ProgressNote
from services.shared.contracts.ids import JobId

EVERY_S = 0.5


class Progress:
    """Writes a job's progress at most twice a second; what comes in between is skipped.

    A job that ends before its first half second costs the catalog nothing: that it runs is known.
    """

    def __init__(self, ledger: Ledger, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._last: dict[JobId, float] = {}

    def say(self, notes: Iterable[ProgressNote]) -> None:
        """Note where these jobs are; one transaction for those that are due."""
        now = self._clock()
        due = [note for note in notes if now - self._last.setdefault(note.job_id, now) >= EVERY_S]
        if due:
            self._ledger.progress(due)
            self._last.update((note.job_id, now) for note in due)
