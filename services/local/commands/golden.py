"""`ragstone golden`: the questions whose right answers an owner has approved."""

from pathlib import Path
from typing import Annotated

import typer

from services.local import background, reviewing, sending, show_evaluation
from services.local.commands.options import AsJson, Space, Url
from services.local.evaluation_api import EvaluationApi
from services.local.folder import shown
from services.local.question_files.files import read_golden
from services.local.terminal import console_for, gateway, out
from services.shared.contracts.golden import QUESTIONS_MAX, GoldenMakeRequest, GoldenState

Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]
State = Annotated[GoldenState | None, typer.Option(help="Only questions in this state.")]

golden_app = typer.Typer(
    help="Golden questions: those whose right answers an owner has approved, which `ragstone eval` asks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@golden_app.command("make")
def make_command(
    limit: Annotated[int, typer.Option(min=1, max=QUESTIONS_MAX, help="Most questions to propose.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice among the documents.")] = 0,
    by_model: Annotated[
        bool, typer.Option("--by-model", help="Also ask the model that RAGSTONE_JUDGE_URL names.")
    ] = False,
    file: Annotated[
        Path, typer.Option("--out", dir_okay=False, help="Where the proposals are written for review.")
    ] = Path("golden-review.yaml"),
    force: Force = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Propose questions from the documents and write them down for review; `golden import` takes the file back.

    Ctrl-C cancels the work.
    """
    reviewing.check_free(file, force=force, for_review=True)
    console = console_for(stderr=as_json)
    with gateway(url, space) as api, sending.interruptible() as stop:
        doors = EvaluationApi(api)
        started = doors.make_golden(GoldenMakeRequest(limit=limit, seed=seed, by_model=by_model))
        later = f"`ragstone golden export FILE.yaml --state proposed{background.where(api)}` writes the proposals"
        work = background.Work(str(started.job_id), "golden questions", later)
        job, proposed = background.wait_for(api, console, work, lambda: list(doors.golden(GoldenState.PROPOSED)), stop)
    if proposed:
        reviewing.write(file, proposed)
    if as_json:
        out({"job": job.model_dump(mode="json"), "proposed": len(proposed), "file": str(file) if proposed else None})
    elif proposed:
        console.print(f"{len(proposed)} questions wait for review in {shown(file)}.", markup=False, soft_wrap=True)
        console.print("Say yes or no to each there (keep), correct what is not right, then run:", markup=False)
        console.print(f"ragstone golden import {shown(file)}", markup=False, highlight=False, soft_wrap=True)
    else:
        console.print("No question waits for review: the documents give none that are not there already.")


@golden_app.command("list")
def list_command(
    state: State = None,
    flagged: Annotated[bool, typer.Option("--flagged", help="Only those to look at again.")] = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List the golden questions."""
    with gateway(url, space) as api:
        items = list(EvaluationApi(api).golden(state, flagged=True if flagged else None))
    if as_json:
        out([item.model_dump(mode="json") for item in items])
    else:
        show_evaluation.golden(console_for(), items)


@golden_app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=".yaml for review, .jsonl for `eval --questions`.")],
    state: State = None,
    force: Force = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Write the golden questions to a file; JSON lines hold only those that an evaluation would ask."""
    reviewing.check_free(file, force=force)
    with gateway(url, space) as api:
        items = list(EvaluationApi(api).golden(state))
    written = reviewing.write(file, items)
    if as_json:
        out({"written": written, "file": str(file)})
        return
    left = len(items) - written
    note = f" {left} are left out, for they are not approved or are flagged." if left else ""
    console_for().print(f"{written} questions are in {shown(file)}.{note}", markup=False, soft_wrap=True)


@golden_app.command("import")
def import_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A reviewed .yaml, or .jsonl.", exists=True, dir_okay=False)
    ],
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Take in reviewed questions; the same id replaces, and what JSON lines hold counts as approved."""
    items = read_golden(file)
    with gateway(url, space) as api:
        done = EvaluationApi(api).put_golden(items)
    if as_json:
        out(done.model_dump(mode="json"))
        return
    console = console_for()
    console.print(f"{done.added} added, {done.replaced} replaced, {done.unchanged} unchanged.")
    if done.flagged:
        said = f"{done.flagged} will not be asked, for their gold passages do not stand in the documents"
        said += "; `ragstone golden list --flagged` shows them."
        console.print(said, style="yellow", markup=False, soft_wrap=True)


@golden_app.command("remove")
def remove_command(
    golden_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the question.")],
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Take one question out of the golden set."""
    with gateway(url, space) as api:
        EvaluationApi(api).remove_golden(golden_id)
    if as_json:
        out({"removed": golden_id})
    else:
        console_for().print(f"Removed {golden_id}.", markup=False, highlight=False)
