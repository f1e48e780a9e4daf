"""`ragstone up`, `down`, `status` and `doctor`: the stack on this machine."""

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from services.local import doctor, sending, show, up
from services.local.api import Api, Unreachable
from services.local.commands.options import AsJson, Space, Url
from services.local.credentials import credential_for
from services.local.profiles import adopt_profile
from services.local.settings import LocalSettings, local_settings, make_state_folder
from services.local.state import RunFolder
from services.local.terminal import FAILED, NOT_RUNNING, console_for, gateway, out, places, words
from services.shared.contracts.errors import RagstoneError


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
            with Api(url, space, credential=credential_for(url, url, settings)) as api:
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


def down(as_json: AsJson = False) -> None:
    """Stop the stack that runs on this state folder."""
    stopped = up.down(RunFolder(local_settings().state_dir))
    if as_json:
        out({"stopped": stopped})
    else:
        typer.echo("Stopped." if stopped else "Nothing runs on this state folder.")


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


def doctor_command(
    repair: Annotated[
        bool, typer.Option("--repair", help="Make vectors, keywords, jobs and files agree with the catalog.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong on this machine and what to do; exit 1 when something is."""
    findings = list(doctor.examine(local_settings(), repair=repair))
    if as_json:
        out([{"name": found.name, "level": found.level, "detail": found.detail} for found in findings])
    else:
        show.findings(console_for(), findings)
    raise typer.Exit(FAILED if any(found.level == "fail" for found in findings) else 0)
