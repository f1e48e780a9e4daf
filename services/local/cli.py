"""The `ragstone` command.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 no answer in the documents (ask); 4 nothing runs or answers;
130 interrupted.
"""

import sys
from typing import Annotated

import typer

from services.local.api import Unreachable
from services.local.commands import agents, documents, indexes, questions, stack
from services.local.commands.backups import backup, restore
from services.local.commands.calibration import calibrate
from services.local.commands.critic import critic_app
from services.local.commands.evaluation import eval_app
from services.local.commands.feedback import feedback_app
from services.local.commands.gaps import gaps_app
from services.local.commands.golden import golden_app
from services.local.commands.keys import keys
from services.local.doors import as_commands
from services.local.terminal import FAILED, INTERRUPTED, NAME, NOT_RUNNING, WRONG_USAGE, complain, say_version
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.settings import WrongSetting

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


app.command("up")(stack.up_command)
app.command("down")(stack.down)
app.command("status")(stack.status)
app.command("ingest")(documents.ingest)
app.command("ask")(questions.ask)
app.command("search")(questions.search)
app.command("jobs")(documents.jobs)
app.command("mcp")(agents.mcp)
app.add_typer(eval_app, name="eval")
app.command("calibrate")(calibrate)
app.command("reembed")(indexes.reembed)
app.add_typer(indexes.indexes_app, name="indexes")
app.add_typer(critic_app, name="critic")
app.add_typer(golden_app, name="golden")
app.add_typer(feedback_app, name="feedback")
app.add_typer(gaps_app, name="gaps")
# The words behind these are read by desks that a container has too, which say their own help.
for _name, _desk in (("keys", keys), ("backup", backup), ("restore", restore)):
    app.command(
        _name, add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
    )(_desk)
app.command("doctor")(stack.doctor_command)


def main() -> None:
    """Run the command; every failure becomes one line and its exit code."""
    try:
        app(prog_name=NAME)
    except WrongSetting as error:
        complain("invalid_setting", str(error), WRONG_USAGE)
    except Unreachable as error:
        complain("unreachable", str(error), NOT_RUNNING)
    except RagstoneError as error:
        complain(error.code, as_commands(error.detail), FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
