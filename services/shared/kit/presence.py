"""Who is at work: background processes say so in Redis, with an expiry, so that readiness can name them."""

import threading

import redis
from redis.exceptions import RedisError

from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

EVERY_S = 5.0
EXPIRES_S = 20
_PREFIX = "ragstone:present:"


def announce(role: str, owner: str, settings: RedisSettings, stop: threading.Event) -> threading.Thread:
    """Start a thread that says every few seconds that ``owner`` works as ``role``, until ``stop`` is set."""

    def run() -> None:
        client = redis.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
        )
        while True:
            try:
                client.set(f"{_PREFIX}{role}:{owner}", "1", ex=EXPIRES_S)
            except RedisError as error:
                log.warning("presence_not_said", role=role, why=type(error).__name__)
            if stop.wait(EVERY_S):
                return

    thread = threading.Thread(target=run, name=f"presence-{role}", daemon=True)
    thread.start()
    return thread


def present(role: str, settings: RedisSettings) -> int:
    """How many processes work as ``role`` now.

    Raises: redis.exceptions.RedisError when Redis does not answer.
    """
    client = redis.Redis.from_url(
        settings.redis_url,
        socket_timeout=settings.redis_timeout_s,
        socket_connect_timeout=settings.redis_timeout_s,
    )
    try:
        return sum(1 for _ in client.scan_iter(match=f"{_PREFIX}{role}:*"))
    finally:
        client.close()
