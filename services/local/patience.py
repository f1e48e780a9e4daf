"""Waits for a job to end, and waits out a gateway that is away for a moment, such as while it is restarted."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from services.local.api import Api, Unreachable
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import Job

AWAY_S = 30.0
"""So long a gateway may be away while its work is waited for."""
AWAY = "the gateway does not answer, asked again"
AGAIN_EVERY_S = 0.5
LOOK_EVERY_S = (0.2, 1.0)
"""The pauses between two looks grow while nothing changes."""

Answer = TypeVar("Answer")


def patiently(
    ask: Callable[[], Answer],
    stop: threading.Event,
    *,
    away: Callable[[], None] = lambda: None,
) -> Answer:
    """What ``ask`` returns, which may be asked again: a gateway that is away or not ready is waited for.

    ``away`` is told of each time it was not there. Raises what ``ask`` raised last, once ``AWAY_S`` are over, when
    ``stop`` is set, or when the gateway refuses for good.
    """
    until: float | None = None
    while True:
        try:
            return ask()
        except (Unreachable, RagstoneError) as error:
            if isinstance(error, RagstoneError) and error.retry_after_s is None:
                raise
            now = time.monotonic()
            until = now + AWAY_S if until is None else until
            if now >= until:
                raise
            away()
            if stop.wait(AGAIN_EVERY_S):
                raise


def follow(api: Api, job_id: str, seen: Callable[[Job], None], stop: threading.Event) -> Job:
    """One job until it has ended or ``stop`` is set; ``seen`` is told of every look.

    A gateway that is away for less than ``AWAY_S`` is waited for. Raises: RagstoneError, Unreachable.
    """
    pause = LOOK_EVERY_S[0]
    looks = list[Job]()

    def away() -> None:
        if looks:
            seen(looks[-1].model_copy(update={"stage": AWAY}))

    while True:
        try:
            job = patiently(partial(api.job, job_id), stop, away=away)
        except (Unreachable, RagstoneError):
            if looks and stop.is_set():
                return looks[-1]
            raise
        looks[:] = [job]
        seen(job)
        if job.state.final or stop.wait(pause):
            return job
        pause = min(pause * 1.5, LOOK_EVERY_S[1])
