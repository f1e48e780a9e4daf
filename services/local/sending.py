"""`ragstone ingest` and what `up` does once everything runs."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.text import Text

from services.local import asking, mirror, show, watching
from services.local.api import Api
from services.local.folder import shown
from services.local.mirror import Choice
from services.local.outcome import Failed, Report
from services.local.patience import follow
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import JobState

STANDARD_INPUT = "-"
BATCH_KINDS = (".ndjson", ".jsonl")

Told = Callable[[Report], None]


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one ends the program."""
    stop = threading.Event()

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    former = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, former)


def send(
    api: Api,
    console: Console,
    path: str,
    choice: Choice,
    stop: threading.Event,
    *,
    batch: bool = False,
    idle_too: bool = True,
) -> Report:
    """One path of the command line, with a bar and a report; without ``idle_too`` no report of nothing to do.

    Raises: RagstoneError, Unreachable.
    """
    began = time.monotonic()
    with show.IngestBar(console, shown(path)) as bar:
        if path == STANDARD_INPUT:
            report = _text(api, sys.stdin.buffer.read(), choice, bar, stop)
        elif batch:
            report = _batch(api, Path(path), bar, stop)
        else:
            report = mirror.ingest(api, Path(path), choice, bar, stop)
    report.seconds = round(time.monotonic() - began, 2)
    if idle_too or not report.idle:
        show.report(console, report)
    return report


def keep_sending(
    api: Api, console: Console, paths: Sequence[str], choice: Choice, stop: threading.Event, told: Told
) -> None:
    """Mirror the folders again at each change, until ``stop`` is set; ``told`` of each report of something done.

    Raises: RagstoneError when a folder cannot be watched.
    """

    def look() -> None:
        for path in paths:
            report = send(api, console, path, choice, stop, idle_too=False)
            if not report.idle:
                told(report)

    def complain(why: str) -> None:
        console.print(Text(why, style="yellow"), soft_wrap=True)

    console.print(Text(f"Watching {', '.join(map(shown, paths))}; Ctrl-C ends it.", style="dim"))
    try:
        watching.keep_up([Path(path) for path in paths], look, complain, stop)
    except OSError as error:
        detail = f"{', '.join(map(shown, paths))} cannot be watched ({error}); name folders that are there."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


def _text(api: Api, data: bytes, choice: Choice, bar: mirror.Progress, stop: threading.Event) -> Report:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        detail = "Standard input is not UTF-8 text; send other kinds of documents as files."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error
    report = Report(path=STANDARD_INPUT, origin=None)
    bar.total(1)
    job = api.submit_text(DocumentIn(id=f"{choice.prefix}{choice.name}" if choice.name else None, text=text))
    document_id = str(job.document_id)
    (report.unchanged if job.unchanged else report.new).append(document_id)
    if not job.state.final:
        mirror.wait_for(api, {job.id: document_id}, report, bar, stop)
    return report


def _batch(api: Api, path: Path, bar: mirror.Progress, stop: threading.Event) -> Report:
    if path.suffix.lower() not in BATCH_KINDS:
        kinds = ", ".join(BATCH_KINDS)
        detail = f"{shown(path)} cannot be sent as a batch; that takes a file of one JSON object a line ({kinds})."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    try:
        lines = path.read_bytes()
    except OSError as error:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{shown(path)} cannot be read: {error.strerror}.") from error
    report = Report(path=shown(path), origin=None)
    bar.total(1)
    job = follow(api, api.submit_batch(lines).id, bar.stage, stop)
    report.interrupted = not job.state.final
    bar.done(1)
    report.failed = [
        Failed(f"line {item.n} ({item.document_id or 'unreadable'})", item.reason or "no reason given")
        for item in api.failed_items(job.id)
    ]
    if job.state in (JobState.FAILED, JobState.CANCELLED) and not report.failed:
        report.failed = [Failed(shown(path.name), job.reason or f"the job was {job.state}")]
    report.batch = job.result
    return report


def after_start(
    api: Api, console: Console, paths: Sequence[Path], question: str | None, stop: threading.Event, max_bytes: int
) -> dict[str, Any]:
    """What `up --ingest --ask` does; the outcome in a form for JSON."""
    outcome: dict[str, Any] = {}
    if paths:
        choice = Choice(max_bytes=max_bytes)
        outcome["ingest"] = [
            as_dict(send(api, console, str(path), replace(choice), stop)) for path in paths if not stop.is_set()
        ]
    if question is not None and not stop.is_set():
        console.print(f"\n{question}", style="bold", markup=False, highlight=False)
        outcome["answer"] = asking.ask_aloud(api, console, question).model_dump(mode="json")
    return outcome


def as_dict(report: Report) -> dict[str, Any]:
    """A report in a form for JSON."""
    return asdict(report)
