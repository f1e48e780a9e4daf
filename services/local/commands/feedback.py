"""`ragstone feedback`: what people said of answers, and what the owner makes of it."""

from typing import Annotated

import typer
from pydantic import ValidationError

from services.local import show_evaluation
from services.local.commands.options import AsJson, Space, Url
from services.local.evaluation_api import EvaluationApi
from services.local.terminal import console_for, gateway, out
from services.shared.contracts.golden import Behaviour, Correction, FeedbackState

OR = "|"
"""Stands between the admissible wordings of one fact."""

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the feedback.")]

feedback_app = typer.Typer(
    help="What people said of answers; a corrected one becomes a golden question.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@feedback_app.command("list")
def list_command(
    state: Annotated[FeedbackState | None, typer.Option(help="Only feedback in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List what people said of answers, newest first."""
    with gateway(url, space) as api:
        found = EvaluationApi(api).feedback(state, limit)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show_evaluation.feedback(console_for(), found.items)


@feedback_app.command("correct")
def correct_command(
    feedback_id: Id,
    expected: Annotated[str | None, typer.Option(help="A right answer, in a sentence or two.")] = None,
    fact: Annotated[
        list[str] | None, typer.Option(help="What it must say; other wordings of the same fact behind a |.")
    ] = None,
    must_not: Annotated[list[str] | None, typer.Option(help="Words that no answer may hold.")] = None,
    abstain: Annotated[
        bool, typer.Option("--abstain", help="The documents do not hold it: it is right to say so.")
    ] = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Say what a right answer is; the question becomes a golden question. --fact and --must-not may come again."""
    if not abstain and not (expected or "").strip():
        raise typer.BadParameter("say it, or that it is right to --abstain.", param_hint="'--expected'")
    if abstain and ((expected or "").strip() or fact):
        raise typer.BadParameter(
            "no answer is expected then: leave --expected and --fact out.", param_hint="'--abstain'"
        )
    facts = [[wording.strip() for wording in one.split(OR) if wording.strip()] for one in fact or []]
    try:
        correction = Correction(
            behaviour=Behaviour.ABSTAIN if abstain else Behaviour.ANSWER,
            expected=expected,
            facts=[wordings for wordings in facts if wordings],
            must_not=[words for words in must_not or [] if words.strip()],
        )
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"], param_hint="'--expected'") from error
    with gateway(url, space) as api:
        kept = EvaluationApi(api).correct_feedback(feedback_id, correction)
    if as_json:
        out(kept.model_dump(mode="json"))
    else:
        console_for().print(f"It is golden question {kept.question.id} now.", markup=False, highlight=False)


@feedback_app.command("dismiss")
def dismiss_command(feedback_id: Id, space: Space = None, url: Url = None, as_json: AsJson = False) -> None:
    """Lay it aside; nothing is to be done."""
    with gateway(url, space) as api:
        left = EvaluationApi(api).dismiss_feedback(feedback_id)
    if as_json:
        out(left.model_dump(mode="json"))
    else:
        console_for().print(f"Dismissed {left.id}.", markup=False, highlight=False)
