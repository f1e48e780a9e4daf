"""`ragstone calibrate`: thresholds of a space's own, fitted on questions made of its content."""

from typing import Annotated

import typer

from services.local import background, sending, show_calibration
from services.local.api import Api
from services.local.calibration_api import CalibrationApi
from services.local.commands.options import AsJson, Space, Url
from services.local.terminal import FAILED, complain, console_for, gateway, out, share
from services.shared.contracts.calibration import RISK, CalibrationRequest

Risk = Annotated[
    float, typer.Option(help="Share of the answered questions that may be ones to turn away.", callback=share)
]
Questions = Annotated[int, typer.Option(min=60, max=3000, help="Questions of each kind at most.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the choice of questions.")]
Background = Annotated[bool, typer.Option("--background", help="Return the job's id at once.")]
Show = Annotated[bool, typer.Option("--show", help="Show what is in force; nothing is asked.")]
Forget = Annotated[bool, typer.Option("--forget", help="Go back to the product's own values.")]


def calibrate(
    risk: Risk = RISK,
    questions: Questions = 300,
    seed: Seed = 0,
    in_background: Background = False,
    show: Show = False,
    forget: Forget = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Fit when passages are good enough to answer from, by questions made of your own documents.

    Ctrl-C cancels the work; what held before stays in force. After large changes of the content it is done again in
    the background.
    """
    if sum((in_background, show, forget)) > 1:
        raise typer.BadParameter("only one of --background, --show and --forget can be meant.")
    with gateway(url, space) as api:
        if show:
            _show(api, as_json=as_json)
        elif forget:
            _forget(api, as_json=as_json)
        else:
            request = CalibrationRequest(risk=risk, questions=questions, seed=seed)
            _calibrate(api, request, in_background=in_background, as_json=as_json)


def _calibrate(api: Api, request: CalibrationRequest, *, in_background: bool, as_json: bool) -> None:
    doors, console = CalibrationApi(api), console_for(stderr=as_json)
    with sending.interruptible() as stop:
        started = doors.start(request)
        if in_background:
            if as_json:
                out(started.model_dump(mode="json"))
            else:
                shown = f"`ragstone calibrate --show{background.where(api)}` shows what comes out"
                said = f"Job {started.job_id} calibrates; {shown}."
                console.print(said, markup=False, highlight=False, soft_wrap=True)
            return
        later = f"`ragstone calibrate --show{background.where(api)}` shows it"
        work = background.Work(str(started.job_id), "calibration", later)
        job, state = background.wait_for(api, console, work, doors.state, stop, warn=False)
    result = job.result or {}
    if not result.get("calibrated") or state.calibration is None:
        why = str(result.get("why") or job.warning or "The calibration was replaced or forgotten meanwhile.")
        complain("not_calibrated", why, FAILED)
    if as_json:
        out(state.model_dump(mode="json"))
    else:
        show_calibration.calibration(console, state)


def _show(api: Api, *, as_json: bool) -> None:
    state = CalibrationApi(api).state()
    if as_json:
        out(state.model_dump(mode="json"))
    else:
        show_calibration.calibration(console_for(), state)


def _forget(api: Api, *, as_json: bool) -> None:
    CalibrationApi(api).forget()
    if as_json:
        out({"calibration": None})
    else:
        console_for().print("Forgotten; the product's own values hold.", highlight=False)
