"""Work that the server does while the command line waits: a bar, and Ctrl-C cancels it."""

import threading

from rich.console import Console

from services.local import mirror, show
from services.local.api import Api, Unreachable
from services.local.terminal import FAILED, INTERRUPTED, complain
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import Job, JobState


def wait_for(api: Api, console: Console, job_id: str, what: str, stop: threading.Event) -> Job:
    """The job as it succeeded; else the command ends here.

    When ``stop`` is set the server is asked to cancel it, and the exit code is 130.
    """
    try:
        with show.JobBar(console, what) as bar:
            job = mirror.follow(api, job_id, bar.seen, stop)
    except Unreachable as error:
        detail = f"{error} The work goes on there; `ragstone jobs {job_id} --watch{where(api)}` waits for its end."
        raise Unreachable(detail) from error
    if not job.state.final:
        complain("interrupted", f"Interrupted. {_cancelled(api, job_id, what)}", INTERRUPTED)
    if job.state is not JobState.SUCCEEDED:
        complain(f"{job.kind}_{job.state}", job.reason or f"The job {job_id} was {job.state}.", FAILED)
    if job.warning:
        console.print(job.warning, style="yellow", markup=False, soft_wrap=True)
    return job


def where(api: Api) -> str:
    """The option that names the space in a command that is shown, where it is not the usual one."""
    return "" if api.space is None else f" --space {api.space}"


def _cancelled(api: Api, job_id: str, what: str) -> str:
    try:
        api.cancel(job_id)
    except RagstoneError as error:
        return error.detail
    return f"The server was asked to cancel {what} (job {job_id})."
