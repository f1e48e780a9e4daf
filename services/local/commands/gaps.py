"""`ragstone gaps`: questions that the documents do not answer, and what the owner makes of them."""

from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import ValidationError

from services.local import background, sending, show_gaps
from services.local.commands.options import AsJson, Space, Url
from services.local.gap_api import GapApi
from services.local.terminal import console_for, gateway, out, words
from services.shared.contracts.gaps import Gap, GapState, NewFact

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the gap.")]

gaps_app = typer.Typer(
    help="Questions that the documents do not answer, or not well; a fact answers them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@gaps_app.command("list")
def list_command(
    state: Annotated[GapState | None, typer.Option(help="Only gaps in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 20,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List the gaps, those that were asked for most often first."""
    with gateway(url, space) as api:
        found = GapApi(api).gaps(state, limit)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show_gaps.gaps(console_for(), found)


@gaps_app.command("fact")
def fact_command(
    gap_id: Id,
    text: Annotated[str, typer.Argument(callback=words, help="What is true, in one or a few whole sentences.")],
    negative: Annotated[
        bool, typer.Option("--not", help="It says that something is not so: it answers no, with confidence.")
    ] = False,
    source: Annotated[str | None, typer.Option(help="Where you know it from; shown with the answer.")] = None,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Say what is true, and wait until the question is answered by it. Ctrl-C cancels."""
    try:
        fact = NewFact(text=text, negative=negative, source=source)
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"], param_hint="'TEXT'") from error
    console = console_for(stderr=as_json)
    with gateway(url, space) as api, sending.interruptible() as stop:
        added = GapApi(api).add_fact(gap_id, fact)
        work = background.Work(str(added.job_id), "the fact", f"`ragstone gaps list{background.where(api)}` shows it")
        background.wait_for(api, console, work, lambda: added, stop)
    if as_json:
        out(added.model_dump(mode="json"))
    else:
        said = f"Document {added.document_id} answers it from now on; ask it again to see."
        console.print(said, markup=False, highlight=False, soft_wrap=True)


@gaps_app.command("dismiss")
def dismiss_command(gap_id: Id, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Lay it aside; nothing is to be done. It does not come back when it is asked again."""
    _changed(lambda doors: doors.dismiss(gap_id), "Dismissed", space, url, as_json=as_json)


@gaps_app.command("reopen")
def reopen_command(gap_id: Id, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Take up again what was dismissed, or answered by a fact."""
    _changed(lambda doors: doors.reopen(gap_id), "Open again:", space, url, as_json=as_json)


def _changed(change: Callable[[GapApi], Gap], what: str, space: str | None, url: str | None, *, as_json: bool) -> None:
    with gateway(url, space) as api:
        gap = change(GapApi(api))
    if as_json:
        out(gap.model_dump(mode="json"))
    else:
        console_for().print(f"{what} {gap.id}.", markup=False, highlight=False)
