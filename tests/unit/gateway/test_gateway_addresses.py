"""Whose address a request comes from: proxies are believed one by one, from the gateway outwards."""

from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.app.addresses import client_of
from services.gateway.domain.limiting import household

PROXIES = [ip_network(one) for one in ("10.0.0.0/8", "127.0.0.1", "fd00::/8")]
CLIENT, STRANGER = "198.51.100.7", "203.0.113.9"


def told(peer: str | None, *forwarded: str, trusted: Any = PROXIES) -> str:
    headers = [(b"x-forwarded-for", line.encode("latin-1")) for line in forwarded]
    return client_of(scope(peer, headers), trusted).address


def scope(peer: str | None, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"type": "http", "client": None if peer is None else (peer, 4711), "headers": headers}


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("10.0.0.1", [CLIENT], CLIENT),
        ("10.0.0.1", [f"1.1.1.1, {CLIENT}"], CLIENT),
        ("10.0.0.1", [f"1.1.1.1, {CLIENT}, 10.0.0.2, 127.0.0.1"], CLIENT),
        ("10.0.0.1", ["1.1.1.1", f"{CLIENT}, 10.0.0.2"], CLIENT),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", [f"{CLIENT}:52100"], CLIENT),
        ("10.0.0.1", [f'"{CLIENT}"'], CLIENT),
        ("10.0.0.1", [f" ,, {CLIENT} , "], CLIENT),
        ("10.0.0.1", [f"::ffff:{CLIENT}"], CLIENT),
        ("::ffff:10.0.0.1", [CLIENT], CLIENT),
        ("fd00::1", ["2001:db8::7"], "2001:db8::7"),
        ("fd00::1", ["[2001:DB8::7]:443"], "2001:db8::7"),
        ("fd00::1", ["fe80::7%eth0"], "fe80::7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", [f"{CLIENT}, garbage, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["\xff\x00'; drop"], "10.0.0.1"),
        ("10.0.0.1", ["999.1.1.1"], "10.0.0.1"),
        ("10.0.0.1", [f"{CLIENT}, " + "10.0.0.2, " * 10_000], "10.0.0.2"),
        (None, [CLIENT], CLIENT),
        ("testclient", [CLIENT], "testclient"),
    ],
)
def test_trusted_proxies_are_walked_past_and_nobody_else_is_believed(
    peer: str | None, forwarded: list[str], address: str
) -> None:
    assert told(peer, *forwarded) == address


@pytest.mark.parametrize("peer", [STRANGER, "2001:db8::1", "::ffff:203.0.113.9", "11.0.0.1"])
def test_a_peer_that_is_no_proxy_tells_nothing(peer: str) -> None:
    assert told(peer, CLIENT) == peer.removeprefix("::ffff:")


def test_without_trusted_proxies_the_header_is_not_read() -> None:
    assert told("127.0.0.1", CLIENT, trusted=[]) == "127.0.0.1"
    assert told(None, CLIENT, trusted=[]) == ""


@given(invented=st.lists(st.one_of(st.ip_addresses().map(str), st.text('0123456789abcdef:.,[]"% unk', max_size=20))))
def test_nothing_that_a_client_invents_hides_its_address(invented: list[str]) -> None:
    """A proxy adds the true address at the right end, as nginx does."""
    assert told("10.0.0.1", ", ".join([*invented, STRANGER])) == STRANGER
    assert told(STRANGER, *invented) == STRANGER


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("198.51.100.7", "198.51.100.8", False),
        ("", "", True),
    ],
)
def test_one_customer_of_a_provider_counts_as_one(one: str, other: str, same: bool) -> None:
    assert (household(one) == household(other)) is same


@pytest.mark.parametrize(
    ("forwarded", "named"),
    [
        ("127.0.0.1", True),
        ("203.0.113.9", True),
        ("127.0.0.1, 10.0.0.2", True),
        ("", False),
        ("unknown", False),
        ("unknown, 127.0.0.1", False),
        ("203.0.113.9, " + "127.0.0.1, " * 60 + "127.0.0.1", False),
        ("127.0.0.1:1, x, " + ", ".join(["127.0.0.1"] * 50), False),
    ],
)
def test_a_client_is_named_where_no_gap_is_before_it(forwarded: str, named: bool) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())]
    assert client_of(scope("127.0.0.1", headers), PROXIES).named is named
    assert not client_of(scope(STRANGER, headers), PROXIES).named
