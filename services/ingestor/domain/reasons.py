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

SUPERSEDED = {
    "newer": "{name}: a newer version of the document came first",
    "deleted": "{name}: a deletion of the document came first",
}


def reason_of(error: Exception, name: str) -> str:
    """A sentence that names the document, says what went wrong and what to do."""
    if isinstance(error, RagstoneError):
        return error.detail if name in error.detail else f"{name}: {error.detail}"
    why = f"{type(error).__name__}: {str(error)[:200]}"
    return f"{name}: failed for a reason nobody foresaw ({why}); the worker's log has more, then retry the job"
