"""The id that follows one request through all services, queues and logs."""

import re
import uuid
from contextvars import ContextVar

import structlog

REQUEST_ID_HEADER = "X-Request-ID"

_current: ContextVar[str] = ContextVar("ragstone_request_id", default="")
_problems: ContextVar[list[str] | None] = ContextVar("ragstone_problems", default=None)
"""One list a request, which the tasks that work for it share."""
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id() -> str:
    """Id of the request that this code runs for; empty outside of one."""
    return _current.get()


def enter_request(offered: str | None) -> str:
    """Take the caller's id when it is a sane one, else make one; bind it to this context and its logs."""
    chosen = offered if offered and _SANE.fullmatch(offered) else uuid.uuid4().hex
    _current.set(chosen)
    structlog.contextvars.bind_contextvars(request_id=chosen)
    return chosen


def watch_problems() -> list[str]:
    """The codes of the errors that the client of this request is told from now on."""
    told: list[str] = []
    _problems.set(told)
    return told


def note_problem(code: str) -> None:
    """A client is told an error of this code."""
    told = _problems.get()
    if told is not None:
        told.append(code)
