"""Which failures are one document's, and what a reason says."""

from services.shared.contracts.errors import ErrorCode, RagstoneError

OUTAGES = frozenset(
    {
        ErrorCode.CATALOG_UNAVAILABLE,
        ErrorCode.VECTOR_STORE_UNAVAILABLE,
        ErrorCode.MODEL_UNAVAILABLE,
        ErrorCode.INDEX_INCOMPATIBLE,
    }
)
"""Failures of the installation, not of a document: every document would meet them."""

PASSING = (OUTAGES - {ErrorCode.INDEX_INCOMPATIBLE}) | {
    ErrorCode.GATEWAY_UNAVAILABLE,
    ErrorCode.RETRIEVER_UNAVAILABLE,
    ErrorCode.GENERATOR_UNAVAILABLE,
    ErrorCode.BUSY,
}
"""Outages that end by themselves or with a restart, so that the same work may succeed a little later."""

SUPERSEDED = {
    "newer": "{name}: a newer version of the document came first",
    "deleted": "{name}: a deletion of the document came first",
    "later": "{name}: sent or deleted again after this batch",
}


def is_outage(error: Exception | None) -> bool:
    """Would every document meet this error?"""
    return isinstance(error, RagstoneError) and error.code in OUTAGES


def passes(error: Exception) -> bool:
    """Is this an outage after which the same work may succeed?"""
    return isinstance(error, RagstoneError) and error.code in PASSING


def reason_of(error: Exception, name: str) -> str:
    """A sentence that names the document, says what went wrong and what to do."""
    if isinstance(error, RagstoneError):
        return error.detail if name in error.detail else f"{name}: {error.detail}"
    why = f"{type(error).__name__}: {str(error)[:200]}"
    return f"{name}: failed for a reason nobody foresaw ({why}); the worker's log has more, then retry the job"
