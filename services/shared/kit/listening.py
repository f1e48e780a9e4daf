"""Which address the gateway listens on while nobody needs a key."""

from ipaddress import ip_address

HERE = "127.0.0.1"


def is_loopback(address: str) -> bool:
    """Is it an address (or a name) of this machine alone?"""
    if address.lower() == "localhost":
        return True
    try:
        found = ip_address(address.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def host_to_listen_on(host: str, *, keys_made: bool, without_keys: bool) -> str:
    """The wanted one, but this machine alone where no key was made and nobody said that this is meant."""
    return host if keys_made or without_keys or is_loopback(host) else HERE


def why_not(host: str) -> str:
    """Why another host is listened on than the wanted one, and what to do."""
    return (
        f"No key was made yet, so the gateway listens on {HERE} only, and not on {host or 'every address'}: anybody "
        "who reached it could read and change everything. Make a key with `ragstone keys create NAME --role admin` and "
        "start it again; RAGSTONE_WITHOUT_KEYS=true does without, for a container whose port is published on loopback."
    )
