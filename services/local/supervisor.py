"""Starts the parts in the order of their health, keeps them running, and leaves none behind."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType

from services.local.processes import STOP_ORDER
from services.local.running import PartState, Running
from services.local.state import Run, RunFolder, RunningPart, RunState
from services.local.voice import Voice
from services.shared.kit.owner import began

TICK_S = 0.05


@dataclass(frozen=True)
class Manners:
    """How patient the supervisor is."""

    start_timeout_s: float = 120.0
    max_deaths: int = 5
    deaths_within_s: float = 300.0
    back_off_s: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0)
    stop_wave_s: float = 4.0
    stop_stores_s: float = 2.0


class GiveUp(Exception):
    """The run cannot go on; the reason has been said."""


class Supervisor:
    """One run, until ``stop`` is set by a signal.

    ``prepare`` (migrations) is done before anything starts; ``when_ready`` runs in a thread of its own.
    """

    def __init__(
        self,
        parts: Sequence[Running],
        *,
        folder: RunFolder,
        url: str,
        voice: Voice,
        manners: Manners,
        stop: threading.Event | None = None,
        prepare: Callable[[], None] = lambda: None,
        when_ready: Callable[[], object] = lambda: None,
        external: Sequence[str] = (),
        profile: str | None = None,
    ) -> None:
        self._parts = list(parts)
        self._by_name = {running.part.name: running for running in parts}
        self._folder = folder
        self._url = url
        self._voice = voice
        self._manners = manners
        self._prepare = prepare
        self._when_ready = when_ready
        self._external = list(external)
        self._profile = profile
        self._next_start: dict[str, float] = {}
        self._ready = False
        self.stop = stop or threading.Event()
        self._after: threading.Thread | None = None
        self._signals = 0

    def run(self) -> int:
        """Until a signal or a part that will not live. Returns the exit code. Must be called in the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        code = 0
        try:
            self._write("starting")
            self._prepare()
            while not self.stop.wait(TICK_S):
                self._look()
        except GiveUp:
            code = 1
        finally:
            self._stop_all()
        return code

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        self.stop.set()

    def _look(self) -> None:
        """One look at every part."""
        before = [running.state for running in self._parts]
        for running in self._parts:
            if running.state in (PartState.WAITING, PartState.RESTARTING):
                self._start_if_due(running)
            elif running.state is PartState.STARTING:
                self._watch_start(running)
            elif running.exit_code is not None:
                self._died(running, f"ended with code {running.exit_code}")
        if [running.state for running in self._parts] != before:
            self._write("ready" if self._ready else "starting")
        if not self._ready and all(running.state is PartState.UP for running in self._parts):
            self._ready = True
            self._write("ready")
            self._after = threading.Thread(target=self._when_ready, daemon=True)
            self._after.start()

    def _start_if_due(self, running: Running) -> None:
        if running.state is PartState.WAITING:
            needed = [self._by_name[name] for name in running.part.waits_for if name in self._by_name]
            if any(other.state is not PartState.UP for other in needed):
                return
        elif time.monotonic() < self._next_start[running.part.name]:
            return
        try:
            running.start()
        except OSError as error:
            self._fail(running, f"cannot be started: {error}")

    def _watch_start(self, running: Running) -> None:
        waited = time.monotonic() - running.since
        if running.exit_code is not None:
            reason = f"ended with code {running.exit_code} before it was ready"
        elif running.not_ready is None:
            running.state = PartState.UP
            again = " again" if running.restarts else ""
            self._voice.says(running.part.name, f"is up{again} ({waited:.1f} s)", "green")
            return
        elif waited > self._manners.start_timeout_s:
            reason = f"is not ready after {waited:.0f} s: {running.not_ready}"
        else:
            return
        if self._ready:
            self._died(running, reason)
        else:
            self._fail(running, reason)

    def _died(self, running: Running, reason: str) -> None:
        """A part that ran is gone: start it again after a while, unless it keeps dying."""
        now = time.monotonic()
        running.end()
        running.deaths.append(now)
        while running.deaths[0] < now - self._manners.deaths_within_s:
            running.deaths.popleft()
        if len(running.deaths) > self._manners.max_deaths:
            minutes = self._manners.deaths_within_s / 60
            self._fail(running, f"{reason}; it died {len(running.deaths)} times in {minutes:.0f} minutes")
        if not self._ready:
            self._fail(running, reason)
        wait = self._manners.back_off_s[min(len(running.deaths), len(self._manners.back_off_s)) - 1]
        running.state = PartState.RESTARTING
        running.restarts += 1
        self._next_start[running.part.name] = now + wait
        when = f"in {wait:g} s" if wait else "at once"
        self._voice.says(running.part.name, f"{reason}; starting it again {when}", "yellow")

    def _fail(self, running: Running, reason: str) -> None:
        name = running.part.name
        running.end()
        self._voice.says(name, f"{reason}. Its last lines:", "bold red")
        for line in running.last_lines:
            self._voice.says(name, line, "")
        log = os.path.relpath(self._folder.logs / f"{name}.log")
        self._voice.own(
            f"The {name} does not run, so everything is stopped. The whole log is in {log}; "
            "`ragstone doctor` names what is missing on this machine.",
            "bold red",
        )
        raise GiveUp

    def _stop_all(self) -> None:
        self.stop.set()
        if self._after is not None:
            self._after.join(timeout=1.0)
        self._voice.stopping()
        if any(running.pid for running in self._parts):
            self._write("stopping")
            self._voice.own("stopping")
        named = {name for wave in STOP_ORDER for name in wave}
        for wave in STOP_ORDER:
            self._stop_wave(
                [running for running in self._parts if running.part.name in wave], self._manners.stop_wave_s
            )
        self._stop_wave(
            [running for running in self._parts if running.part.name not in named], self._manners.stop_stores_s
        )
        self._voice.own("stopped; nothing is left running")

    def _stop_wave(self, wave: Sequence[Running], patience_s: float) -> None:
        """SIGTERM, up to ``patience_s``, SIGKILL; a second Ctrl-C ends the patience."""
        for running in wave:
            running.ask_to_stop()
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline and self._signals < 2 and any(running.pid for running in wave):
            time.sleep(TICK_S)
        for running in wave:
            running.end()
            running.close()

    def _write(self, state: RunState) -> None:
        pid = os.getpid()
        parts = [
            RunningPart(
                name=running.part.name,
                state=running.state.value,
                pid=running.pid,
                began=began(running.pid) if running.pid else None,
                port=running.port,
                restarts=running.restarts,
            )
            for running in self._parts
        ]
        parts += [
            RunningPart(name=name, state=PartState.EXTERNAL.value, pid=None, began=None, port=None, restarts=0)
            for name in self._external
        ]
        since = began(pid) or 0.0
        self._folder.write(Run(pid=pid, began=since, url=self._url, state=state, profile=self._profile, parts=parts))
