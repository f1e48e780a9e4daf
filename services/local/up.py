"""`ragstone up` and `down`: one run on one state folder, in the foreground or in the background."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from rich.console import Console

from services.local.guardian import Guardian
from services.local.settings import LocalSettings
from services.local.stack import build_supervisor, listening_on, own_parts, settle_restore, site_of
from services.local.state import Run, RunFolder, signal_supervisor
from services.local.voice import Voice
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.listening import why_not

DOWN_TIMEOUT_S = 15.0
LOOK_EVERY_S = 0.1


def run_here(
    settings: LocalSettings,
    folder: RunFolder,
    console: Console,
    *,
    verbose: bool,
    stop: threading.Event,
    when_ready: Callable[[str], object],
) -> int:
    """Start the stack and stay until ``stop`` is set by a signal. ``folder`` must be taken. Returns the exit code.

    ``when_ready`` gets the gateway's address, in a thread of its own.
    Raises: RagstoneError when something that is needed is missing or a port is taken.
    """
    parts = own_parts(os.environ)
    broken_off = settle_restore(settings)
    host = listening_on(settings)
    site = site_of(settings.model_copy(update={"host": host}), parts, os.environ)
    voice = Voice(console, [part.name for part in parts], verbose=verbose)
    if broken_off is not None:
        voice.own(broken_off, "yellow")
    if host != settings.host:
        voice.own(why_not(settings.host), "yellow")
    guardian = Guardian()
    try:
        supervisor = build_supervisor(
            settings,
            folder,
            voice=voice,
            guardian=guardian,
            site=site,
            parts=parts,
            stop=stop,
            when_ready=lambda: when_ready(site.url),
        )
        return supervisor.run()
    finally:
        guardian.dismiss()


def run_in_background(settings: LocalSettings, folder: RunFolder, words: Sequence[str]) -> Run:
    """Start another process that runs the stack, and wait until it is ready.

    Raises: RagstoneError with the last lines of its log when it did not come up.
    """
    folder.logs.mkdir(parents=True, exist_ok=True)
    log = folder.logs / "supervisor.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.local", "up", *words],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    run = wait_until_ready(settings, folder, gone=lambda: process.poll() is not None)
    if run is not None:
        return run
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    raise RagstoneError(ErrorCode.INTERNAL, f"The stack did not start:\n{said}")


def wait_until_ready(
    settings: LocalSettings, folder: RunFolder, gone: Callable[[], bool] = lambda: False
) -> Run | None:
    """The run of this folder once it is ready; null when it ends or is ``gone`` before, or takes too long."""
    deadline = time.monotonic() + 2 * settings.start_timeout_s
    held_before = False
    while time.monotonic() < deadline and not gone():
        run = folder.live()
        if run is not None and run.state == "ready":
            return run
        if held_before and not folder.held():
            return None
        held_before = held_before or folder.held()
        time.sleep(LOOK_EVERY_S)
    return None


def take(folder: RunFolder) -> bool:
    """Take the folder for a run; False when a run has it. Somebody's short look at the lock is waited out."""
    for _ in range(5):
        if folder.take():
            return True
        time.sleep(0.05)
    return False


def down(folder: RunFolder) -> bool:
    """Stop the run of this folder; False when there was none.

    Raises: RagstoneError when it does not stop.
    """
    run = folder.live()
    if run is None:
        return False
    signal_supervisor(run, signal.SIGTERM)
    if not _released(folder, DOWN_TIMEOUT_S):
        signal_supervisor(run, signal.SIGKILL)
        if not _released(folder, DOWN_TIMEOUT_S):
            raise RagstoneError(ErrorCode.INTERNAL, f"Process {run.pid} does not end; end it by hand.")
    return True


def _released(folder: RunFolder, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not folder.held():
            return True
        time.sleep(LOOK_EVERY_S)
    return False
