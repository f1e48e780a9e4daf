"""Arguments and options that several commands take, so that they read the same everywhere."""

from typing import Annotated

import typer

from services.local.terminal import words

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value for programs, and nothing else.")]
Space = Annotated[str | None, typer.Option(help="Name of the space; the default is the gateway's own (main).")]
Url = Annotated[str | None, typer.Option(help="Address of the gateway; the default is the one that runs here.")]
Question = Annotated[str, typer.Argument(callback=words)]
