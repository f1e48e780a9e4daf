"""Whose address a request comes from, behind any number of trusted proxies."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

HOPS = 50
"""Proxies that are looked at, from the gateway outwards."""


@dataclass(frozen=True)
class Client:
    """``address``: empty where a Unix socket tells none. ``named``: trusted proxies named it, and left no gap."""

    address: str
    named: bool


def client_of(scope: Scope, trusted: Sequence[Network]) -> Client:
    """Whose request it is.

    X-Forwarded-For is read from its right end, where the nearest proxy has written: each proxy is believed only if it
    is itself in ``trusted``, so that what a client invented stands behind its true address and is never reached.
    Whoever can reach a Unix socket counts as a proxy once any is trusted.
    """
    peer = scope.get("client")
    nearest = _read(peer[0]) if peer else None
    if nearest is None and peer and peer[0]:
        return Client(str(peer[0]), named=False)
    if not trusted or (nearest is not None and not _within(nearest, trusted)):
        return Client("" if nearest is None else str(nearest), named=False)
    named = False
    for hop in _hops(scope):
        found = _read(hop)
        named = found is not None
        if found is None:
            break
        nearest = found
        if not _within(found, trusted):
            break
    return Client("" if nearest is None else str(nearest), named)


def _hops(scope: Scope) -> list[str]:
    """What the proxies wrote, the nearest first; an unreadable one stands for all beyond ``HOPS``."""
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    far, *near = ",".join(lines).rsplit(",", HOPS)
    return [hop.strip() for hop in (*reversed(near), "beyond" if "," in far else far) if hop.strip()]


def _read(text: str) -> Address | None:
    """An address with or without a port, brackets, quotes or a zone; None for anything else."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)
