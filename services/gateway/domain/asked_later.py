"""Questions that are answered later: when a client wants that, who may see them, and what their jobs' events say."""

import hashlib
from collections.abc import Iterable

from services.gateway.domain.callers import Caller
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import Job
from services.shared.contracts.keys import Role

RESPOND_ASYNC = "respond-async"
MOST_LINES = 1000
"""Questions in one body."""

PASSING = frozenset(
    {
        ErrorCode.BUSY,
        ErrorCode.CATALOG_UNAVAILABLE,
        ErrorCode.VECTOR_STORE_UNAVAILABLE,
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.RETRIEVER_UNAVAILABLE,
        ErrorCode.GENERATOR_UNAVAILABLE,
        ErrorCode.QUEUE_UNAVAILABLE,
    }
)
"""Failures that end by themselves or with a restart, so that the same question may be answered a little later."""


def wants_it_later(prefer: Iterable[str]) -> bool:
    """Is ``respond-async`` among the preferences of a request's Prefer headers (RFC 7240)?"""
    wishes = [wish.partition(";")[0].strip().lower() for header in prefer for wish in header.split(",")]
    return RESPOND_ASYNC in wishes


def only_of(caller: Caller) -> str | None:
    """The key whose questions alone the caller may see of all jobs; None when it may see every job of its space."""
    return None if caller.role.allows(Role.WRITE) else caller.key_id or ""


def state_id(job: Job) -> str:
    """The same for the same state of a job and for no other, so that a watcher who comes back can name what it has."""
    return hashlib.sha256(job.model_dump_json().encode()).hexdigest()[:16]


def passes(error: Exception) -> bool:
    """Is this an outage after which the same question may be answered?"""
    return isinstance(error, RagstoneError) and error.code in PASSING


def reason_of(error: Exception) -> str:
    """A sentence for whoever waits for the answer: what went wrong, and what to do."""
    if isinstance(error, RagstoneError):
        return error.detail
    return f"The question failed for a reason nobody foresaw ({type(error).__name__}); the asker's log has more."
