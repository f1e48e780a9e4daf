"""The life of one part: started, asked whether it is ready, listened to, ended."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from services.local.guardian import Guardian
from services.local.health import Addresses, why_not_ready
from services.local.logbook import LogFile, plain
from services.local.processes import Part

LAST_LINES = 20
PROBE_EVERY_S = 0.15


class PartState(StrEnum):
    """Where a part is in its life. EXTERNAL: somebody else runs it."""

    WAITING = "waiting"
    STARTING = "starting"
    UP = "up"
    RESTARTING = "restarting"
    EXTERNAL = "external"


class Running:
    """One part and its current process.

    ``hear`` is called with (name, line) from a thread for every line that the process writes.
    """

    def __init__(
        self,
        part: Part,
        *,
        port: int | None,
        command: Sequence[str],
        environment: Mapping[str, str],
        addresses: Addresses,
        log: LogFile,
        hear: Callable[[str, str], None],
        guardian: Guardian,
    ) -> None:
        self.part = part
        self.port = port
        self.state = PartState.WAITING
        self.deaths: deque[float] = deque()
        self.restarts = 0
        self.since = 0.0
        self.not_ready: str | None = "not started"
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._command = list(command)
        self._environment = dict(environment)
        self._addresses = addresses
        self._log = log
        self._hear = hear
        self._guardian = guardian
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """Of the process that runs now."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """Null while the process runs or when there is none."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl-C reaches the supervisor alone.

        Raises: OSError when the command cannot be run.
        """
        self.not_ready = "it has not answered yet"
        self.last_lines.clear()
        self.since = time.monotonic()
        self.state = PartState.STARTING
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._guardian.watch(self._process.pid)
        self._reader = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._reader.start()
        threading.Thread(target=self._probe, args=(self._process,), daemon=True).start()

    def ask_to_stop(self) -> None:
        """SIGTERM to the process alone: a worker tells its own children."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """SIGKILL to whatever is left of the process and its children, and forget it."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._guardian.forget(self._process.pid)
        if self._reader is not None:
            self._reader.join(timeout=1.0)
        self._process = None

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for raw in stream:
                line = plain(raw.decode("utf-8", errors="replace"))
                self.last_lines.append(line)
                self._log.write(line)
                self._hear(self.part.name, line)

    def _probe(self, process: subprocess.Popen[bytes]) -> None:
        while process is self._process and process.poll() is None and self.not_ready is not None:
            self.not_ready = why_not_ready(self.part.health, self._addresses)
            time.sleep(PROBE_EVERY_S)
