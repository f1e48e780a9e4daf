"""Who holds a lease: a process, named so that its death can be told on its own host."""

import os
import socket
from collections.abc import Collection
from pathlib import Path

TOLERANCE_S = 1.0
"""Where the system tells the start by its clock, which may be set; a pid comes back much later than that."""

_START = 19
"""Place of the start time behind the name of the command in /proc/PID/stat (proc_pid_stat(5), field 22)."""


def this_process() -> str:
    """``host:pid:start-time``: the start time tells it from a later process with the same pid."""
    return f"{here()}:{os.getpid()}:{began(os.getpid()):.2f}"


def here() -> str:
    """This host, as far as its processes can be seen: of two containers with one host name neither sees the other's."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        return f"{socket.gethostname()}-{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def dead(owners: Collection[str]) -> set[str]:
    """Those of the owners that ran on this host and do not any more; nothing is known of other hosts."""
    mine = here()
    return {owner for owner in owners if owner.rsplit(":", 2)[0] == mine and not _alive(owner)}


def began(pid: int) -> float | None:
    """When a process began, seconds: the same at every look, in every process. None when it is gone, or ended.

    On Linux since the system's start. By the clock it would move with each correction of the clock, by minutes after
    a machine was suspended, and every process would be taken for another one.
    """
    if (stat := Path("/proc", str(pid), "stat")).parent.parent.joinpath("self", "stat").exists():
        try:
            told = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if told[0] in "ZX" else int(told[_START]) / os.sysconf("SC_CLK_TCK")
    return _by_the_clock(pid)


def _by_the_clock(pid: int) -> float | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.NoSuchProcess:
        return None


def same_process(pid: int, moment: float | None) -> bool:
    """Is this still that process, and not a later one with its number?"""
    now = began(pid)
    return now is not None and moment is not None and abs(now - moment) <= TOLERANCE_S


def _alive(owner: str) -> bool:
    import psutil

    try:
        _, pid, moment = owner.rsplit(":", 2)
        return same_process(int(pid), float(moment))
    except (ValueError, PermissionError, psutil.AccessDenied):
        # Not a name that this module made, or not ours to look at: its lease decides.
        return True
