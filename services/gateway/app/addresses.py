"""Whose address a request comes from, behind any number of trusted proxies."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

HOPS = 50
"""Proxies that are looked at, from the gateway outwards."""


def address_of(scope: Scope, trusted: Sequence[Network]) -> str:
    """The client's address; empty where a Unix socket tells none.

    X-Forwarded-For is read from its right end, where the nearest proxy has written: each proxy is believed only if it
    is itself in ``trusted``, so that what a client invented stands behind its true address and is never reached.
    Whoever can reach a Unix socket counts as a proxy once any is trusted.
    """
    peer = scope.get("client")
    nearest = _read(peer[0]) if peer else None
    if nearest is None and peer and peer[0]:
        return str(peer[0])
    if not trusted or (nearest is not None and not _within(nearest, trusted)):
        return "" if nearest is None else str(nearest)
    for hop in _hops(scope):
        found = _read(hop)
        if found is None:
            break
        nearest = found
        if not _within(found, trusted):
            break
    return "" if nearest is None else str(nearest)


def _hops(scope: Scope) -> list[str]:
    """What the proxies wrote, the nearest first."""
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [hop.strip() for hop in reversed(",".join(lines).rsplit(",", HOPS)[-HOPS:]) if hop.strip()]


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
