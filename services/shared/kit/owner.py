"""Who holds a lease: a process, named so that its death can be told on its own host."""

import socket
from collections.abc import Collection

import psutil

START_TOLERANCE_S = 1.0
"""The kernel's clock ticks in hundredths of a second and may be set; a pid comes back much later than that."""


def this_process() -> str:
    """``host:pid:start-time``: the start time tells it from a later process with the same pid."""
    process = psutil.Process()
    return f"{socket.gethostname()}:{process.pid}:{process.create_time():.2f}"


def dead(owners: Collection[str]) -> set[str]:
    """Those of the owners that ran on this host and do not any more; nothing is known of other hosts."""
    here = socket.gethostname()
    return {owner for owner in owners if owner.rsplit(":", 2)[0] == here and not _alive(owner)}


def _alive(owner: str) -> bool:
    try:
        _, pid, started = owner.rsplit(":", 2)
        process = psutil.Process(int(pid))
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return abs(process.create_time() - float(started)) <= START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return False
    except (ValueError, psutil.AccessDenied):
        # Not a name that this module made, or not ours to look at: its lease decides.
        return True
