"""What a request shows of where it comes from: its key, its machine, the host that it was sent to."""

from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names of this machine that no other machine can take over in a browser."""

NO_HOSTS = frozenset({"", "0.0.0.0", "[::]"})  # noqa: S104 - compared, not bound
"""What is listened on, but nobody's name."""


@dataclass(frozen=True)
class Knock:
    """What the door is shown.

    ``local``: it came from this machine, and no proxy of which nothing is known passed it on.
    """

    authorization: str | None
    origin: str | None
    host: str
    address: str
    local: bool


def bearer(authorization: str | None) -> str | None:
    """What stands behind ``Bearer``; null without the header or for another scheme."""
    scheme, _, rest = (authorization or "").strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" and rest.strip() else None


def host_name(host: str) -> str:
    """The name in a Host header or an address to listen on, without its port; empty when it is neither."""
    bare = host.count(":") > 1 and not host.startswith("[")
    try:
        parts = urlsplit(f"//[{host}]" if bare else f"//{host}")
        name = parts.hostname or ""
    except ValueError:
        return ""
    return f"[{name}]" if ":" in name else name
