"""Asks one process whether it is ready."""

import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import ValidationError

from services.local.processes import Health, Probe
from services.shared.contracts.health import Readiness
from services.shared.kit.owner import dead

PROBE_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class Addresses:
    """Where the checked process listens, and where Redis is (for processes without a port)."""

    url: str
    redis_url: str


def why_not_ready(health: Health, addresses: Addresses) -> str | None:
    """Null when the process is ready, else the reason in words. Blocks a few seconds at most."""
    if health.probe is Probe.HTTP:
        return _http(addresses.url, health.target)
    return _redis(addresses.redis_url, health.target if health.probe is Probe.PRESENT else None)


def _http(url: str, path: str) -> str | None:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=PROBE_TIMEOUT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        return f"{url}{path} does not answer ({type(error).__name__})"
    finally:
        connection.close()
    if response.status == 200:
        return None
    return not_ready_parts(body) or f"{url}{path} answers {response.status}"


def not_ready_parts(body: bytes) -> str:
    """The parts of a readiness message that are not ready, as one line; empty when it is none."""
    try:
        readiness = Readiness.model_validate_json(body)
    except ValidationError:
        return ""
    return "; ".join(f"{name}: {part.detail}" for name, part in readiness.parts.items() if not part.ready)


def _redis(redis_url: str, role: str | None) -> str | None:
    from redis import Redis
    from redis.exceptions import RedisError

    from services.shared.kit.presence import forget, present
    from services.shared.kit.settings import RedisSettings

    try:
        if role is None:
            with Redis.from_url(redis_url, socket_timeout=PROBE_TIMEOUT_S, socket_connect_timeout=1) as client:
                client.ping()
            return None
        settings = RedisSettings(redis_url=redis_url)
        forget(
            lambda owner: owner in dead([owner]), settings
        )  # else a former run's word, which stays for a while, would count for this one
        return None if present(role, settings) else f"no {role} has said yet that it works"
    except RedisError as error:
        return f"Redis at {redis_url} does not answer ({type(error).__name__})"
