"""Which ports the parts listen on, and who holds one that is taken."""

import os
import socket
from collections.abc import Iterable, Mapping

from services.local.processes import Part, Port
from services.shared.contracts.errors import ErrorCode, RagstoneError


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Can a server listen there now?"""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A port that nobody listens on, chosen by the system."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def holder(port: int) -> str:
    """Who listens on a port, as words; the system may not tell."""
    import psutil

    try:
        for connection in psutil.net_connections(kind="tcp"):
            address = connection.laddr
            if connection.status == psutil.CONN_LISTEN and address and address.port == port and connection.pid:
                command = " ".join(psutil.Process(connection.pid).cmdline())[:120]
                return f"process {connection.pid} ({command})"
    except psutil.Error:
        pass  # other people's processes are not shown on every system
    return "another process"


def choose_ports(parts: Iterable[Part], chosen: Mapping[str, int | None], host: str = "127.0.0.1") -> dict[str, int]:
    """A port for each part that has one.

    ``chosen`` holds ports set by hand, by part; they are never replaced.
    Raises: RagstoneError (invalid_request) when such a port, or a fixed one, is taken.
    """
    ports: dict[str, int] = {}
    for part in parts:
        if part.port is not None:
            ports[part.name] = _port_of(part.name, part.port, chosen.get(part.name), set(ports.values()), host)
    return ports


def _port_of(name: str, port: Port, by_hand: int | None, given: set[int], host: str) -> int:
    wanted = by_hand or port.usual
    if wanted not in given and is_free(wanted, host if port.fixed else "127.0.0.1"):
        return wanted
    if port.fixed or by_hand:
        how = f"--port or {port.setting}" if port.fixed else port.setting
        who = "another part of Ragstone" if wanted in given else holder(wanted)
        detail = f"Port {wanted} of the {name} is taken by {who}. Stop that, or choose another port with {how}."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    while (found := free_port()) in given:
        pass
    return found
