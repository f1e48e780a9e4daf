"""Rounds of named steps at their own pace, which no failing step can end."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger

log = get_logger(__name__)


@dataclass(frozen=True)
class Step:
    """Something to run every so many seconds, under the name that the log gives it."""

    name: str
    every_s: float
    run: Callable[[], None]


def go_round(steps: Sequence[Step], stop: threading.Event, tick_s: float) -> None:
    """Run each step when it is due until ``stop`` is set; whatever one raises is logged and tried again later."""
    due = dict.fromkeys((step.name for step in steps), 0.0)
    while not stop.is_set():
        for step in steps:
            now = time.monotonic()
            if now >= due[step.name] and not stop.is_set():
                due[step.name] = now + step.every_s
                _try(step)
        stop.wait(tick_s)


def _try(step: Step) -> None:
    try:
        step.run()
    except RagstoneError as error:
        log.warning("step_failed", step=step.name, why=error.detail)
    # The reconciler is what repairs everything else, so nothing may end it.
    except Exception:
        log.exception("step_failed", step=step.name)
