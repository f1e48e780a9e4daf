"""Choosing ports on the real machine."""

import os
import socket
from collections.abc import Iterator

import pytest

from services.local.ports import choose_ports, free_port, is_free
from services.local.processes import Health, Part, Port, Probe
from services.shared.contracts.errors import RagstoneError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def part(port: Port) -> Part:
    return Part(name="gateway", command=(), health=Health(Probe.HTTP), port=port)


def test_the_usual_port_is_taken_when_it_is_free() -> None:
    port = free_port()
    assert choose_ports([part(Port("X", port))], {}) == {"gateway": port}


def test_another_is_found_when_it_is_not(taken: int) -> None:
    found = choose_ports([part(Port("X", taken))], {})["gateway"]
    assert found != taken
    assert is_free(found)


@pytest.mark.parametrize(("fixed", "by_hand"), [(True, None), (False, 1)])
def test_a_port_that_must_not_move_is_refused_naming_who_holds_it(taken: int, fixed: bool, by_hand: int | None) -> None:
    chosen = {"gateway": taken if by_hand else None}
    with pytest.raises(RagstoneError) as caught:
        choose_ports([part(Port("RAGSTONE_PORT", taken, fixed=fixed))], chosen)
    assert f"Port {taken} of the gateway is taken by process {os.getpid()}" in caught.value.detail
    assert "RAGSTONE_PORT" in caught.value.detail
