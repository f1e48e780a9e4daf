"""A Celery worker that has gone deaf begins anew.

When Redis is lost at the moment in which a worker acknowledges a message, kombu 5.7 logs the failure and counts the
message as unacknowledged for ever. With room for one message at a time, the worker then takes none again, though it
looks alive: it says that it is present, and its jobs wait for ever. Other ways into the same state have been reported
for years (celery's issues 8030, 9054, 10205, 10302), so what is looked for is the state and not the way.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence

import psutil
import redis
from celery.worker import state
from redis.exceptions import RedisError

from services.shared.contracts.jobs import Queue
from services.shared.kit.logs import get_logger
from services.shared.kit.queue import PREFIX
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

LOOK_EVERY_S = 3.0
LOOKS = 5
"""So often the same message must be the next one while nothing is done. A healthy worker takes it in milliseconds."""


def begin_anew_when_deaf(queues: Sequence[Queue], settings: RedisSettings, stop: threading.Event) -> threading.Thread:
    """Start a thread in the worker's main process that watches it until ``stop`` is set.

    A deaf worker has no task, so nothing is lost when it starts its own command again under the same process id.
    """
    thread = threading.Thread(target=_watch, args=(queues, settings, stop), name="deafness", daemon=True)
    thread.start()
    return thread


def _watch(queues: Sequence[Queue], settings: RedisSettings, stop: threading.Event) -> None:
    client = redis.Redis.from_url(
        settings.redis_url, socket_timeout=settings.redis_timeout_s, socket_connect_timeout=settings.redis_timeout_s
    )
    left_lying: dict[Queue, tuple[bytes, int]] = {}
    while not stop.wait(LOOK_EVERY_S):
        try:
            left_lying = _seen_again(client, queues, left_lying)
        except (RedisError, OSError):
            left_lying = {}
            continue
        if any(times >= LOOKS for _, times in left_lying.values()) and not stop.is_set():
            log.error("worker_deaf", why="messages wait and none is taken; the worker starts again")
            _begin_anew()


def _seen_again(
    client: redis.Redis, queues: Sequence[Queue], before: dict[Queue, tuple[bytes, int]]
) -> dict[Queue, tuple[bytes, int]]:
    """The next message of each queue that this worker should have taken, and how often it was seen in a row."""
    if state.active_requests or state.reserved_requests:
        return {}
    waiting = {queue: client.lindex(f"{PREFIX}{queue}", -1) for queue in queues}
    seen: dict[Queue, tuple[bytes, int]] = {}
    for queue, message in waiting.items():
        if isinstance(message, bytes):
            known, times = before.get(queue, (b"", 0))
            seen[queue] = (message, times + 1 if message == known else 1)
    return seen


def _begin_anew() -> None:
    for child in psutil.Process().children(recursive=True):
        try:
            child.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - its own command
