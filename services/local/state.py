"""The state folder's notes about the run: a lock, and run.json with who runs where."""

import contextlib
import fcntl
import os
import signal
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from services.local.guardian import end_groups
from services.shared.contracts.base import Record
from services.shared.kit.owner import same_process

RunState = Literal["starting", "ready", "stopping"]


class RunningPart(Record):
    """One process of the run."""

    name: str
    state: str = Field(description="waiting, starting, up, restarting, external")
    pid: int | None
    began: float | None = Field(description="Creation time of that process as the system knows it, seconds")
    port: int | None
    restarts: int


class Run(Record):
    """What run.json holds."""

    pid: int = Field(description="The supervisor's")
    began: float = Field(description="The supervisor's creation time, seconds")
    url: str
    state: RunState
    profile: str | None = Field(default=None, description="The profile that speaks; null: none, or an older run")
    parts: list[RunningPart]


class RunFolder:
    """The state folder as the supervisor, `status` and `down` use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.logs = self.folder / "logs"
        self._file = self.folder / "run.json"
        self._lock: int | None = None

    def take(self) -> bool:
        """Become the one supervisor of this folder; False when another process is.

        What a supervisor that died has left behind is cleaned away.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        self._clean()
        return True

    def release(self) -> None:
        """The run is over."""
        with contextlib.suppress(FileNotFoundError):
            self._file.unlink()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def held(self) -> bool:
        """Does a supervisor run on this folder now?"""
        try:
            lock = os.open(self.folder / "supervisor.lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(lock)
        return False

    def write(self, run: Run) -> None:
        """Replace run.json in one step."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(run.model_dump_json(indent=2), encoding="utf-8")
        fresh.replace(self._file)

    def read(self) -> Run | None:
        """The run as last written, whether it still lives or not."""
        try:
            return Run.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return None

    def live(self) -> Run | None:
        """The run that lives now, if any; a note that a dead supervisor left is none."""
        run = self.read() if self.held() else None
        return run if run is not None and same_process(run.pid, run.began) else None

    def _clean(self) -> None:
        stale = self.read()
        if stale is not None:
            end_groups(part.pid for part in stale.parts if part.pid and same_process(part.pid, part.began))
            self._file.unlink()


def signal_supervisor(run: Run, number: signal.Signals) -> None:
    """Send a signal to the supervisor of a run, if it is still the same process."""
    if same_process(run.pid, run.began):
        with contextlib.suppress(ProcessLookupError):
            os.kill(run.pid, number)
