"""A watcher that ends the parts when their supervisor died without doing so (kill -9, out of memory).

It reads lines ``+GROUP`` and ``-GROUP`` (process groups) from standard input; the end of the input means that the
supervisor is gone. Works wherever pipes do, and reaches the children of the parts as well.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

GRACE_S = 3.0


def guard(lines: Iterable[str]) -> set[int]:
    """Process groups that are still named when the lines end."""
    groups: set[int] = set()
    for line in lines:
        sign, group = line[:1], int(line[1:])
        (groups.add if sign == "+" else groups.discard)(group)
    return groups


def end_groups(groups: Iterable[int], grace_s: float = GRACE_S) -> None:
    """SIGTERM, a moment, SIGKILL."""
    left = {group for group in groups if _signalled(group, signal.SIGTERM)}
    deadline = time.monotonic() + grace_s
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = {group for group in left if _signalled(group, 0)}
    for group in left:
        _signalled(group, signal.SIGKILL)


def _signalled(group: int, number: int) -> bool:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


class Guardian:
    """The supervisor's side: starts the watcher and tells it what to watch."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "services.local.guardian"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def watch(self, group: int) -> None:
        """End this process group should the supervisor die."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """This group has ended."""
        self._tell(f"-{group}\n")

    def dismiss(self) -> None:
        """The supervisor ends in order."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=GRACE_S + 2)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()


def main() -> None:
    """Watch until the input ends."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    end_groups(guard(sys.stdin))


if __name__ == "__main__":
    main()
