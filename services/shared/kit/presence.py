"""Who is at work: background processes say so in Redis, with an expiry, so that readiness can name them."""

import atexit
import contextlib
import threading
from collections.abc import Callable

import redis
from redis.exceptions import RedisError

from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

EVERY_S = 5.0
EXPIRES_S = 20
_PREFIX = "ragstone:present:"


def _client(settings: RedisSettings) -> redis.Redis:
    return redis.Redis.from_url(
        settings.redis_url,
        socket_timeout=settings.redis_timeout_s,
        socket_connect_timeout=settings.redis_timeout_s,
    )


def announce(role: str, owner: str, settings: RedisSettings, stop: threading.Event) -> threading.Thread:
    """Start a thread that says every few seconds that ``owner`` works as ``role``, until ``stop`` is set.

    What was said is taken back then, and at the latest when the process ends in order.
    """
    key = f"{_PREFIX}{role}:{owner}"

    def run() -> None:
        client = _client(settings)
        while True:
            try:
                client.set(key, "1", ex=EXPIRES_S)
            except RedisError as error:
                log.warning("presence_not_said", role=role, why=type(error).__name__)
            if stop.wait(EVERY_S):
                break
        with contextlib.suppress(RedisError):  # it expires all the same
            client.delete(key)

    def leave() -> None:
        stop.set()
        thread.join(timeout=2 * settings.redis_timeout_s)

    thread = threading.Thread(target=run, name=f"presence-{role}", daemon=True)
    thread.start()
    atexit.register(leave)
    return thread


def forget(gone: Callable[[str], bool], settings: RedisSettings) -> None:
    """Take back what owners that are ``gone`` have said; who was killed could not do it.

    Raises: redis.exceptions.RedisError when Redis does not answer.
    """
    with _client(settings) as client:
        for key in client.scan_iter(match=f"{_PREFIX}*"):
            _, _, owner = key.decode().removeprefix(_PREFIX).partition(":")
            if gone(owner):
                client.delete(key)


def present(role: str, settings: RedisSettings, host: str | None = None) -> int:
    """How many processes work as ``role`` now; of one host alone, if it is named.

    Raises: redis.exceptions.RedisError when Redis does not answer.
    """
    client = _client(settings)
    owners = "*" if host is None else f"{host}:*"
    try:
        return sum(1 for _ in client.scan_iter(match=f"{_PREFIX}{role}:{owners}"))
    finally:
        client.close()
