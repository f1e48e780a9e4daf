"""What the commands print for a person."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from services.local import mirror, outcome
from services.local.doctor import Finding
from services.local.profiles import speaks, why_idle
from services.local.state import Run
from services.shared.contracts.answers import Answer, AnswerStatus, Citation
from services.shared.contracts.health import Readiness
from services.shared.contracts.jobs import Job, JobItem, JobList, RetriedJobs

LISTED = 5


class IngestBar(mirror.Progress):
    """A bar with rate and time left."""

    def __init__(self, console: Console, what: str) -> None:
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[stage]}", style="dim", markup=False),
            console=console,
            transient=True,
        )
        self._what = what
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def total(self, documents: int) -> None:
        """So many documents are to be done."""
        if documents:
            self._task = self._bar.add_task(self._what, total=documents, rate="", stage="")

    def done(self, documents: int) -> None:
        """So many more are done."""
        if self._task is not None:
            self._bar.advance(self._task, documents)
            speed = self._bar.tasks[0].speed
            self._bar.update(self._task, rate=f"{speed:.1f} documents/s" if speed else "")

    def stage(self, job: Job) -> None:
        """A job that is under way."""
        if self._task is not None:
            amount = f" {job.done}/{job.total}" if job.total else ""
            self._bar.update(self._task, stage=f"{job.document_id or job.kind}: {job.stage or 'begun'}{amount}")


class JobBar:
    """How far one job is; its total is known once it is under way."""

    def __init__(self, console: Console, what: str) -> None:
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[stage]}", style="dim", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(what, total=None, stage="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def seen(self, job: Job) -> None:
        """The job as it is now."""
        self._bar.update(self._task, total=job.total, completed=job.done, stage=job.stage or str(job.state))


def report(console: Console, result: outcome.Report) -> None:
    """What an ingestion came to."""
    would = "would be " if result.dry_run else ""
    counts = [
        (f"{would}new", result.new, "green"),
        (f"{would}changed", result.changed, "green"),
        (f"{would}moved", [f"{old} -> {new}" for new, old in result.moved.items()], "green"),
        (f"{would}forgotten (vanished)", result.vanished, "yellow"),
        ("unchanged", result.unchanged, "dim"),
    ]
    said = ", ".join(f"{len(ids)} {word}" for word, ids, _ in counts if ids) or "nothing to do"
    if result.batch is not None:
        said = ", ".join(f"{count} {word}" for word, count in result.batch.items())
    console.print(Text(f"{result.path}: {said}, {len(result.failed)} failed ({result.seconds:.1f} s)", style="bold"))
    for word, ids, style in counts[:4]:
        _listed(console, word, ids, style)
    for skip in result.skipped:
        console.print(Text(f"  skipped {skip.path}: {skip.reason}", style="yellow"))
    for warned in result.warned:
        console.print(Text(f"  look at {warned.document_id}: {warned.warning}", style="yellow"))
    if result.ignored:
        kinds = ", ".join(f"{number} {extension}" for extension, number in list(result.ignored.items())[:LISTED])
        console.print(Text(f"  not documents: {kinds}", style="dim"))
    for failure in result.failed:
        console.print(Text(f"  failed {failure.document_id}: {failure.reason}", style="red"))
    if result.advice is not None:
        console.print(Text(result.advice, style="yellow"))
    if result.interrupted:
        console.print("Interrupted. What was sent is worked on all the same; `ragstone jobs --watch` shows it.")


def _listed(console: Console, word: str, ids: Sequence[str], style: str) -> None:
    for document_id in ids[:LISTED]:
        console.print(Text(f"  {word} {document_id}", style=style))
    if len(ids) > LISTED:
        console.print(Text(f"  {word}: and {len(ids) - LISTED} more", style=style))


def sentence(console: Console, text: str) -> None:
    """One checked sentence as it arrives, with the layout that stands before it."""
    console.print(Text(text), end="", soft_wrap=True)


def answer_end(console: Console, answer: Answer, url: str, *, text_shown: bool) -> None:
    """The text unless it was shown, then what the question was taken for and where the answer comes from."""
    if text_shown:
        console.print()
    else:
        style = "" if answer.status is AnswerStatus.ANSWERED else "yellow"
        console.print(Text(answer.text, style=style))
    if answer.rewritten is not None:
        console.print(Text(f"understood as: {answer.rewritten}", style="dim"))
    if answer.sub_questions:
        console.print(Text(f"looked up in parts: {' | '.join(answer.sub_questions)}", style="dim"))
    if answer.citations:
        console.print()
        for citation in answer.citations:
            _citation(console, citation, url)
    how = f"confidence {answer.confidence:.2f}, written by {answer.model.name or answer.model.writer}"
    if answer.status is not AnswerStatus.ANSWERED:
        how = f"{answer.status} ({answer.reason}), {how}"
    if answer.degraded:
        how += f", without: {', '.join(answer.degraded)}"
    console.print(Text(how, style="dim"))


def _citation(console: Console, citation: Citation, url: str) -> None:
    where = ", ".join(part for part in (place(citation.title, citation.section), citation.place) if part)
    console.print(Text.assemble((f"[{citation.n}] ", "bold cyan"), (where, "bold")))
    console.print(Text(f'    "{" ".join(citation.quote.split())}"', style="italic"))
    link = citation.url if "://" in citation.url else f"{url}/{citation.url.lstrip('/')}"
    console.print(Text(f"    {link}", style="blue"), soft_wrap=True)


def place(title: str, section: str) -> str:
    """Title and section; a section that begins with the title (its first heading) says both."""
    return section if section.startswith(title) else f"{title} > {section}" if section else title


def retried(console: Console, done: RetriedJobs) -> None:
    """How many failed jobs wait again, and why some do not."""
    rest = f"; {done.skipped} cannot be, as their documents were sent again or deleted since" if done.skipped else ""
    console.print(f"{done.retried} failed jobs wait again{rest}.", markup=False, highlight=False, soft_wrap=True)


def jobs(console: Console, found: JobList) -> None:
    """The newest jobs and the counts of all."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("id", "kind", "state", "stage", "done", "document", "reason"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for job in found.items:
        table.add_row(*(Text(" ".join(cell.split())) for cell in _cells(job)))
    console.print(table)
    console.print(Text(", ".join(f"{count} {state}" for state, count in found.counts.items() if count) or "no jobs"))


def _cells(job: Job) -> tuple[str, ...]:
    amount = str(job.done) if job.total is None else f"{job.done}/{job.total}"
    why = job.reason or job.warning or ""
    return (str(job.id), str(job.kind), str(job.state), job.stage or "", amount, str(job.document_id or ""), why)


def job(console: Console, one: Job, failed: Iterable[JobItem] = ()) -> None:
    """One job, field by field."""
    for name, value in one.model_dump(mode="json").items():
        if value is not None:
            console.print(Text(f"{name:<12} {value}"))
    for item in failed:
        console.print(Text(f"  line {item.n}, {item.document_id or 'unreadable'}: {item.reason}", style="red"))


def readiness(console: Console, found: Readiness) -> None:
    """Each part that the gateway works with."""
    for name, part in found.parts.items():
        mark = ("ok  ", "green") if part.ready else ("fail", "red")
        console.print(Text.assemble(mark, f"  {name}: {part.detail}"))


def run(console: Console, one: Run) -> None:
    """The processes of a run."""
    console.print(Text(f"{one.state} at {one.url} (supervisor {one.pid}), speaks {speaks(one.profile)}", style="bold"))
    for part in one.parts:
        port = f", port {part.port}" if part.port else ""
        again = f", restarted {part.restarts} times" if part.restarts else ""
        console.print(Text(f"  {part.name:<11} {part.state}, process {part.pid}{port}{again}"))


def idle_profile(console: Console, content: Sequence[Path], one: Run) -> None:
    """That the content has a profile which the run does not use, if so."""
    said = why_idle(content, one.profile)
    if said is not None:
        console.print(Text(said, style="yellow"), soft_wrap=True)


def findings(console: Console, found: Iterable[Finding]) -> None:
    """The doctor's lines."""
    colours = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    for finding in found:
        mark = (f"{finding.level:<5}", colours[finding.level])
        console.print(Text.assemble(mark, (f"{finding.name:<18} ", "bold"), finding.detail), soft_wrap=True)
