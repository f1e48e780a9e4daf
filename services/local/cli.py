"""The `ragstone` command.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 no answer in the documents (ask); 4 nothing runs or answers;
130 interrupted.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from services.local import asking, doctor, sending, show, up
from services.local.api import Api, Unreachable
from services.local.mirror import Choice, follow
from services.local.profiles import adopt_profile
from services.local.settings import LocalSettings, WrongSetting, local_settings, make_state_folder
from services.local.state import RunFolder
from services.local.terminal import (
    ABSTAINED,
    FAILED,
    INTERRUPTED,
    NAME,
    NOT_RUNNING,
    WRONG_USAGE,
    complain,
    console_for,
    gateway,
    out,
    places,
    say_version,
    sources,
    words,
)
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import JobState

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value for programs, and nothing else.")]
Space = Annotated[str | None, typer.Option(help="Name of the space; the default is the gateway's own (main).")]
Url = Annotated[str | None, typer.Option(help="Address of the gateway; the default is the one that runs here.")]
Question = Annotated[str, typer.Argument(callback=words)]

app = typer.Typer(
    help=(__doc__ or "").split("\n", 1)[1],
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _whole(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=say_version, help="Print the version and end.")
    ] = False,
) -> None:
    pass


@app.command("up")
def up_command(
    background: Annotated[bool, typer.Option("--background", help="Return once everything is ready.")] = False,
    port: Annotated[int | None, typer.Option(help="Port of the gateway and its page.")] = None,
    ingest: Annotated[
        list[str] | None, typer.Option(callback=places, help="Folder or file to ingest once it runs.")
    ] = None,
    ask: Annotated[
        str | None, typer.Option(callback=words, help="Question to ask once it runs (after ingesting).")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show every log line.")] = False,
    space: Space = None,
    as_json: AsJson = False,
) -> None:
    """Start the whole stack on this machine and serve until Ctrl-C."""
    settings = local_settings(port)
    folder = RunFolder(settings.state_dir)
    make_state_folder(folder.folder)
    console = console_for(stderr=as_json)
    stop = threading.Event()
    content = [Path(place) for place in ingest or []]
    if not folder.held():
        adopt_profile(content, os.environ, folder.folder)

    def then(url: str) -> bool:
        result: dict[str, Any] = {"url": url, "state_dir": str(folder.folder)}
        try:
            with Api(url, space) as api:
                result |= sending.after_start(api, console, content, ask, stop, settings.document_max_bytes)
        except (RagstoneError, Unreachable) as error:
            result["error"] = str(error)
            if not stop.is_set():
                console.print(f"{error}", style="red", markup=False)
        if as_json:
            out(result)
        elif not stop.is_set():
            console.print(f"\nRagstone runs at {url}/ (API: {url}/docs)", style="bold green", highlight=False)
        return "error" not in result and not any(report["failed"] for report in result.get("ingest", []))

    if background or not up.take(folder):
        _join(settings, folder, console, content, background=background, verbose=verbose, then=then)
        return
    try:
        code = up.run_here(settings, folder, console, verbose=verbose, stop=stop, when_ready=then)
    finally:
        stop.set()
        folder.release()
    raise typer.Exit(code)


def _join(
    settings: LocalSettings,
    folder: RunFolder,
    console: Console,
    content: Sequence[Path],
    *,
    background: bool,
    verbose: bool,
    then: Callable[[str], bool],
) -> None:
    """Use the run of this folder, started now in the background or running already."""
    if folder.held():
        console.print("Ragstone runs already on this state folder.", highlight=False)
        run = up.wait_until_ready(settings, folder)
        if run is None:
            console.print("It ended before it was ready; see .ragstone/logs and try again.", style="red")
            raise typer.Exit(FAILED)
        show.idle_profile(console, content, run)
    elif background:
        options = ["--port", str(settings.port), *(["--verbose"] if verbose else [])]
        run = up.run_in_background(settings, folder, options)
    else:
        console.print("The run on this state folder has just ended; try again.", style="red")
        raise typer.Exit(FAILED)
    raise typer.Exit(0 if then(run.url) else FAILED)


@app.command()
def down(as_json: AsJson = False) -> None:
    """Stop the stack that runs on this state folder."""
    stopped = up.down(RunFolder(local_settings().state_dir))
    if as_json:
        out({"stopped": stopped})
    else:
        typer.echo("Stopped." if stopped else "Nothing runs on this state folder.")


@app.command()
def status(space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Say what runs, and whether each part is ready."""
    run = RunFolder(local_settings().state_dir).live()
    try:
        with gateway(url, space) as api:
            readiness = api.readiness()
    except (Unreachable, RagstoneError) as error:
        if as_json:
            out({"running": run is not None, "run": run and run.model_dump(), "ready": False, "detail": str(error)})
        else:
            console = console_for()
            if run is not None:
                show.run(console, run)
            console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(NOT_RUNNING) from error
    if as_json:
        out({"running": True, "run": run and run.model_dump(), "ready": readiness.ready, **readiness.model_dump()})
    else:
        console = console_for()
        if run is not None and url is None:
            show.run(console, run)
        show.readiness(console, readiness)
    raise typer.Exit(0 if readiness.ready else FAILED)


@app.command()
def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(callback=sources, help="Folders to mirror, files to send, or - for text on standard input."),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the mirrored folder, or id of the text from -.")] = None,
    prefix: Annotated[str, typer.Option(help="Put in front of every document id, such as handbook/.")] = "",
    glob: Annotated[str | None, typer.Option(help="Only files whose path or name fits, such as '*.md'.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Send an .ndjson or .jsonl file as many documents.")] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Let an empty folder forget everything that came from it.")
    ] = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Make the documents equal to a folder: new, changed, moved and vanished files."""
    settings = local_settings()
    console = console_for(stderr=as_json)
    choice = Choice(
        name=name,
        prefix=prefix,
        glob=glob,
        dry_run=dry_run,
        allow_empty=allow_empty,
        max_bytes=settings.document_max_bytes,
    )
    run = None if url or settings.url else RunFolder(settings.state_dir).live()
    if run is not None:
        show.idle_profile(console, [Path(path) for path in paths], run)
    with gateway(url, space) as api, sending.interruptible() as stop:
        reports = [sending.send(api, console, path, choice, stop, batch=batch) for path in paths if not stop.is_set()]
    if as_json:
        out([sending.as_dict(report) for report in reports])
    if any(report.interrupted for report in reports):
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(FAILED if any(report.failed for report in reports) else 0)


@app.command()
def ask(question: Question, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Ask a question; sentences are printed as they are checked, then where they come from."""
    with gateway(url, space) as api:
        if as_json:
            answer = asking.ask(api, question)
            out(answer.model_dump(mode="json"))
        else:
            answer = asking.ask_aloud(api, console_for(), question)
    raise typer.Exit(0 if answer.status == "answered" else ABSTAINED)


@app.command()
def search(
    question: Question,
    top_k: Annotated[int, typer.Option(min=1, max=100, help="How many passages.")] = 5,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show the passages that a question finds, without writing."""
    with gateway(url, space) as api:
        found = asking.search(api, question, top_k)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show.search(console_for(), found)


@app.command()
def jobs(
    job_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One job instead of the newest.")] = None,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until nothing is queued or running.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List background work, or show one job; exit 1 when that job failed."""
    console = console_for()
    with gateway(url, space) as api, sending.interruptible() as stop:
        if job_id is None:
            found = asking.watch_jobs(api, console, state, limit, stop, watch=watch, quiet=as_json)
            if as_json:
                out(found.model_dump(mode="json"))
            return
        job = follow(api, job_id, lambda _: None, stop) if watch else api.job(job_id)
        items = list(api.failed_items(job_id)) if job.kind == "batch" else []
    if as_json:
        out(job.model_dump(mode="json") | {"failed_items": [item.model_dump(mode="json") for item in items]})
    else:
        show.job(console, job, items)
    raise typer.Exit(FAILED if job.state is JobState.FAILED else 0)


@app.command("doctor")
def doctor_command(as_json: AsJson = False) -> None:
    """Say what is wrong on this machine and what to do; exit 1 when something is."""
    findings = list(doctor.examine(local_settings()))
    if as_json:
        out([{"name": found.name, "level": found.level, "detail": found.detail} for found in findings])
    else:
        show.findings(console_for(), findings)
    raise typer.Exit(FAILED if any(found.level == "fail" for found in findings) else 0)


def main() -> None:
    """Run the command; every failure becomes one line and its exit code."""
    try:
        app(prog_name=NAME)
    except WrongSetting as error:
        complain("invalid_setting", str(error), WRONG_USAGE)
    except Unreachable as error:
        complain("unreachable", str(error), NOT_RUNNING)
    except RagstoneError as error:
        complain(error.code, error.detail, FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
