"""What every command shares at the terminal: exit codes, how values and failures are printed, arguments checked."""

import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from services.local.api import Api
from services.local.credentials import credential_for
from services.local.settings import local_settings
from services.local.state import RunFolder

FAILED, WRONG_USAGE, ABSTAINED, NOT_RUNNING, INTERRUPTED = 1, 2, 3, 4, 130
NAME = "ragstone"
_STEERING = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]")
"""Control characters but for tab and line feed, and those that turn the direction of reading."""


class Terminal(Console):
    """A console for texts of visitors, documents and servers: nothing that they hold steers the terminal.

    What Rich itself sends to move the cursor stands in segments of their own kind, and colours are no text.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments without what would be taken for a command, or read in another order than it stands."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_STEERING.sub("", segment.text), segment.style)


def out(value: Any) -> None:
    """One JSON value for programs; what would steer a terminal stands escaped, which is the same value."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def console_for(*, stderr: bool = False) -> Console:
    """Lines are broken for a terminal only, not for a file or a pipe."""
    console = Terminal(stderr=stderr)
    if not console.is_terminal:
        console.soft_wrap, console.width = True, 200
    return console


def complain(code: str, detail: str, exit_code: int) -> NoReturn:
    """Say why the command failed, for a program where ``--json`` was asked for, and end."""
    if "--json" in sys.argv:
        out({"error": {"code": code, "detail": detail}})
    else:
        Terminal(stderr=True).print(detail, style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(exit_code)


def gateway(url: str | None, space: str | None) -> Api:
    """The one of this address, else of the settings, else the one that runs on this state folder."""
    settings = local_settings()
    run = RunFolder(settings.state_dir).live()
    usual = f"http://127.0.0.1:{settings.port}"
    chosen = url or settings.url or (run.url if run else usual)
    address = chosen if "://" in chosen else f"http://{chosen}"
    return Api(address, space, credential=credential_for(address.rstrip("/"), run.url if run else None, settings))


def say_version(wanted: bool) -> None:
    """`--version` prints it and ends."""
    if wanted:
        typer.echo(f"{NAME} {version(NAME)}")
        raise typer.Exit


def words(value: str | None) -> str | None:
    """A question that was given must say something.

    Raises: typer.BadParameter.
    """
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty.")
    return value


def share(value: float) -> float:
    """Between 0 and 1, and neither of them.

    Raises: typer.BadParameter.
    """
    if not 0 < value < 1:
        raise typer.BadParameter("it is not between 0 and 1.")
    return value


def sources(values: list[str]) -> list[str]:
    """Paths of which none is empty: an empty one, out of an unset variable, would mean the current folder.

    Raises: typer.BadParameter.
    """
    if not all(value.strip() for value in values):
        raise typer.BadParameter("a path is empty; the current folder is `.`.")
    return values


def places(values: list[str] | None) -> list[str]:
    """Files and folders that are there; none when the option was not given.

    Raises: typer.BadParameter.
    """
    found = sources(values or [])
    for value in found:
        if not Path(value).exists():
            raise typer.BadParameter(f"{value} is not there.")
    return found
