"""`ragstone ask` and `search`."""

from typing import Annotated

import typer

from services.local import asking, show
from services.local.commands.options import AsJson, Question, Space, Url
from services.local.terminal import ABSTAINED, console_for, gateway, out


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
