"""Work that the server does while the command line waits: a bar, and Ctrl-C cancels it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console

from services.local import show
from services.local.api import Api, Unreachable
from services.local.patience import follow, patiently
from services.local.terminal import FAILED, INTERRUPTED, complain
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import Job, JobState

Result = TypeVar("Result")


@dataclass(frozen=True)
class Work:
    """A job that was begun; ``later`` says what else leads to its result, as the end of a sentence."""

    job_id: str
    what: str
    later: str


def wait_for(
    api: Api,
    console: Console,
    work: Work,
    result: Callable[[], Result],
    stop: threading.Event,
    *,
    warn: bool = True,
) -> tuple[Job, Result]:
    """The job as it succeeded, and the ``result`` that is there then; else the command ends here.

    A warning of the job is shown, unless the caller shows what it says (``warn`` is False). When ``stop`` is set the
    server is asked to cancel it, and the exit code is 130.
    """
    try:
        with show.JobBar(console, work.what) as bar:
            job = follow(api, work.job_id, bar.seen, stop)
        _check_succeeded(api, job, work)
        if job.warning and warn:
            console.print(job.warning, style="yellow", markup=False, soft_wrap=True)
        return job, patiently(result, stop)
    except Unreachable as error:
        detail = f"{error} The work goes on there; `ragstone jobs {work.job_id} --watch{where(api)}` waits for its end"
        raise Unreachable(f"{detail}, and then {work.later}.") from error


def where(api: Api) -> str:
    """The option that names the space in a command that is shown, where it is not the usual one."""
    return "" if api.space is None else f" --space {api.space}"


def _check_succeeded(api: Api, job: Job, work: Work) -> None:
    if not job.state.final:
        complain("interrupted", f"Interrupted. {_cancelled(api, work)}", INTERRUPTED)
    if job.state is not JobState.SUCCEEDED:
        why = (job.reason or f"The job {work.job_id} was {job.state}").rstrip(".")
        again = f"`ragstone jobs {work.job_id} --retry{where(api)}` goes on with it."
        complain(f"{job.kind}_{job.state}", f"{why}. {again}", FAILED)


def _cancelled(api: Api, work: Work) -> str:
    try:
        api.cancel(work.job_id)
    except RagstoneError as error:
        return error.detail
    except Unreachable as error:
        return f"{error} {work.what} goes on there; `ragstone jobs {work.job_id} --cancel{where(api)}` cancels it."
    return f"The server was asked to cancel {work.what} (job {work.job_id})."
