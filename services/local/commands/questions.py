"""`ragstone ask` and `search`."""

from typing import Annotated

import typer

from services.local import asking, show_search
from services.local.commands.options import AsJson, Question, Space, Url
from services.local.terminal import ABSTAINED, console_for, gateway, out
from services.shared.contracts.ids import DocumentId
from services.shared.contracts.search import Filters, SearchRequest


def ask(question: Question, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Ask a question; sentences are printed as they are checked, then where they come from."""
    with gateway(url, space) as api:
        if as_json:
            answer = asking.ask(api, question)
            out(answer.model_dump(mode="json"))
        else:
            answer = asking.ask_aloud(api, console_for(), question)
    raise typer.Exit(0 if answer.status == "answered" else ABSTAINED)


def search(
    question: Question,
    top_k: Annotated[int, typer.Option(min=1, max=100, help="How many passages.")] = 5,
    type: Annotated[list[str] | None, typer.Option(help="Only documents of this type; any of several.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only documents with this tag; all of several.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every list, gate and drop.")] = False,
    expect: Annotated[
        str | None, typer.Option(metavar="DOCUMENT", help="Say why this document is not among the passages.")
    ] = None,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show the passages that a question finds, without writing."""
    for text in (question, expect or "", *(type or ()), *(tag or ())):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise typer.BadParameter(f"{text!r} holds bytes that are no text; check its encoding.")
    filters = Filters(type=list(type) if type else None, tags=list(tag) if tag else None) if type or tag else None
    request = SearchRequest(
        question=question,
        filters=filters,
        top_k=top_k,
        explain=explain or expect is not None,
        expect=None if expect is None else DocumentId(expect),
    )
    with gateway(url, space) as api:
        found = asking.search(api, request)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show_search.search(console_for(), found)
