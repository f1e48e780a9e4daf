"""`ragstone ingest` and `jobs`: documents on their way in."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.local import asking, sending, show
from services.local.commands.options import AsJson, Space, Url
from services.local.folder import Patterns
from services.local.mirror import Choice
from services.local.outcome import Report
from services.local.patience import follow
from services.local.settings import local_settings
from services.local.state import RunFolder
from services.local.terminal import FAILED, INTERRUPTED, console_for, gateway, out, sources
from services.shared.contracts.jobs import JobKind, JobList, JobState


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(callback=sources, help="Folders to mirror, files to send, or - for text on standard input."),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the mirrored folder, or id of the text from -.")] = None,
    prefix: Annotated[str, typer.Option(help="Put in front of every document id, such as handbook/.")] = "",
    glob: Annotated[
        list[str] | None, typer.Option(help="Only files whose path or name fits, such as '*.md'; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Not the files that fit, such as 'drafts/*'; may be repeated.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, and send each change as it happens.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Send an .ndjson or .jsonl file as many documents.")] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Let an empty folder forget everything that came from it.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Send unchanged files too, for a release that reads them differently.")
    ] = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Make the documents equal to a folder: new, changed, moved and vanished files."""
    if watch and (batch or dry_run or again or not all(Path(path).is_dir() for path in paths)):
        raise typer.BadParameter(
            "only folders can be watched, without --batch, --again or --dry-run.", param_hint="'--watch'"
        )
    settings = local_settings()
    console = console_for(stderr=as_json)
    choice = Choice(
        name=name,
        prefix=prefix,
        patterns=Patterns(tuple(glob or ()), tuple(exclude or ())),
        dry_run=dry_run,
        allow_empty=allow_empty,
        again=again,
        max_bytes=settings.document_max_bytes,
    )
    run = None if url or settings.url else RunFolder(settings.state_dir).live()
    if run is not None:
        show.idle_profile(console, [Path(path) for path in paths], run)
    with gateway(url, space) as api, sending.interruptible() as stop:
        reports = [sending.send(api, console, path, choice, stop, batch=batch) for path in paths if not stop.is_set()]
        if as_json:
            out([sending.as_dict(report) for report in reports])
        if watch and not stop.is_set():
            told = partial(_one_more, as_json=as_json)
            sending.keep_sending(api, console, paths, choice, stop, told)
            return
    if any(report.interrupted for report in reports):
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(FAILED if any(report.failed for report in reports) else 0)


def _one_more(report: Report, *, as_json: bool) -> None:
    if as_json:
        out([sending.as_dict(report)])


def jobs(
    job_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One job instead of the newest.")] = None,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[JobKind | None, typer.Option(help="Only jobs of this kind.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until nothing is queued or running.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the job ID.")] = False,
    again: Annotated[bool, typer.Option("--retry", help="Begin the failed or cancelled job ID again.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Begin all failed jobs again, or those of --kind.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List background work, or show, cancel or retry one job; exit 1 when that job failed."""
    if (cancel or again) and (job_id is None or (cancel and again)):
        raise typer.BadParameter("one of --cancel and --retry takes the ID of one job.", param_hint="'ID'")
    if retry_failed and job_id is not None:
        raise typer.BadParameter("--retry-failed is for all failed jobs; --retry takes the ID of one.")
    console = console_for()
    with gateway(url, space) as api, sending.interruptible() as stop:
        if retry_failed:
            show.retried(console_for(stderr=as_json), api.retry_failed(kind))
        if job_id is None:

            def listed() -> JobList:
                return api.jobs(state, limit, kind)

            found = asking.watch_jobs(listed, console, stop, watch=watch, quiet=as_json)
            if as_json:
                out(found.model_dump(mode="json"))
            return
        look = api.cancel if cancel else api.retry if again else api.job
        job = look(job_id)
        if watch:
            job = follow(api, job_id, lambda _: None, stop)
        items = list(api.failed_items(job_id)) if job.kind == "batch" else []
    if as_json:
        out(job.model_dump(mode="json") | {"failed_items": [item.model_dump(mode="json") for item in items]})
    else:
        show.job(console, job, items)
    raise typer.Exit(FAILED if job.state is JobState.FAILED else 0)
