"""`ragstone reembed` and `indexes`: another embedder without downtime."""

import threading
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from services.local import background, sending, show_indexes
from services.local.api import Api
from services.local.commands.options import AsJson, Space, Url
from services.local.doors import as_commands
from services.local.index_api import IndexApi
from services.local.terminal import FAILED, complain, console_for, gateway, out, words
from services.shared.contracts.indexes import Index, IndexPhase, NewIndex

Embedder = Annotated[
    str,
    typer.Argument(callback=words, help="As RAGSTONE_EMBEDDER: a known name, or a folder or hub name."),
]
Promote = Annotated[
    bool, typer.Option("--promote", help="Let it serve when it is built, unless it is shown to find less.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Let it serve also when it finds less; --promote goes without saying.")
]
Background = Annotated[
    bool, typer.Option("--background", help="Return at once; `ragstone indexes` shows how far it is.")
]
QueryPrompt = Annotated[str | None, typer.Option(help="Text before each question; the default is the model's own.")]
DocumentPrompt = Annotated[str | None, typer.Option(help="Text before each passage; the default is the model's own.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the index.")]

indexes_app = typer.Typer(
    help="The index that serves, and those that are built or kept beside it.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


def reembed(
    embedder: Embedder,
    promote: Promote = False,
    force: Force = False,
    in_background: Background = False,
    query_prompt: QueryPrompt = None,
    document_prompt: DocumentPrompt = None,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Build an index with another embedder beside the one that serves, and compare the two.

    Questions are answered all the while. Ctrl-C cancels the work; the same command goes on where it ended.
    """
    if force and in_background:
        raise typer.BadParameter("it is decided when the index is built; wait for it, or promote it later.")
    try:
        wanted = NewIndex(
            embedder=embedder,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            promote=promote and not force,
        )
    except ValidationError as error:
        fault = error.errors()[0]
        hint = f"'--{str(fault['loc'][0]).replace('_', '-')}'"
        raise typer.BadParameter(f"{fault['msg'].lower()}.", param_hint=hint) from error
    console = console_for(stderr=as_json)
    with gateway(url, space) as api, sending.interruptible() as stop:
        index = IndexApi(api).start(wanted)
        if not in_background:
            index = _built(api, console, index, stop)
            if force:
                index = IndexApi(api).promote(index.id, force=True)
        where = background.where(api)
    if as_json:
        out(index.model_dump(mode="json"))
    elif in_background:
        said = f"Index {index.id} is being built (job {index.job_id}); `ragstone indexes{where}` shows how far it is."
        console.print(said, markup=False, highlight=False, soft_wrap=True)
    else:
        show_indexes.built(console, index, where)
        if index.state is IndexPhase.SERVING:
            show_indexes.switched(console, index, where)
    if (promote or force) and not in_background and index.state is not IndexPhase.SERVING:
        raise typer.Exit(FAILED)


@indexes_app.callback()
def list_command(context: typer.Context, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """The index that serves, and those that are built or kept beside it."""
    if context.invoked_subcommand is None:
        _list(space, url, as_json=as_json)


@indexes_app.command("list")
def list_again_command(space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """List them, the serving one first."""
    _list(space, url, as_json=as_json)


@indexes_app.command("promote")
def promote_command(
    index_id: Id, force: Force = False, space: Space = None, url: Url = None, as_json: AsJson = False
) -> None:
    """Let an index serve in place of the one that does; the other one stands by."""
    with gateway(url, space) as api:
        _switched(api, IndexApi(api).promote(index_id, force=force), as_json=as_json)


@indexes_app.command("rollback")
def rollback_command(space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Let the index that served before serve again."""
    with gateway(url, space) as api:
        _switched(api, IndexApi(api).rollback(), as_json=as_json)


@indexes_app.command("remove")
def remove_command(index_id: Id, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Give up an index that does not serve, and delete its vectors."""
    with gateway(url, space) as api:
        index = IndexApi(api).remove(index_id)
    if as_json:
        out(index.model_dump(mode="json"))
    else:
        said = f"Index {index.id} is retired; its vectors are deleted in the background."
        console_for().print(said, markup=False, highlight=False, soft_wrap=True)


def _list(space: str | None, url: str | None, *, as_json: bool) -> None:
    with gateway(url, space) as api:
        found, where = IndexApi(api).all(), background.where(api)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show_indexes.indexes(console_for(), found, where)


def _built(api: Api, console: Console, index: Index, stop: threading.Event) -> Index:
    """The index when its job has ended well; else the command ends."""
    later = f"`ragstone indexes{background.where(api)}` shows it"
    work = background.Work(str(index.job_id), f"index with {index.embedder.name}", later)
    return background.wait_for(api, console, work, lambda: IndexApi(api).one(index.id), stop, warn=False)[1]


def _switched(api: Api, index: Index, *, as_json: bool) -> None:
    """Say what serves; an index that does not yet is a failure of a command that was to switch."""
    if index.state is not IndexPhase.SERVING and as_json:
        why = as_commands(index.reason or f"Index {index.id} is {index.state}.", background.where(api))
        complain("not_promoted", why, FAILED)
    if as_json:
        out(index.model_dump(mode="json"))
        return
    show_indexes.switched(console_for(), index, background.where(api))
    if index.state is not IndexPhase.SERVING:
        raise typer.Exit(FAILED)
