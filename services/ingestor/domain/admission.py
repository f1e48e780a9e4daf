"""Which documents are too large to be looked at."""

from services.shared.contracts.errors import ErrorCode, RagstoneError


def refuse_too_large(name: str, size_bytes: int, limit_bytes: int) -> None:
    """Raises BODY_TOO_LARGE naming the limit and its setting."""
    if size_bytes > limit_bytes:
        detail = (
            f"{name} has {size_bytes:,} bytes and the limit is {limit_bytes:,}; split it, "
            "or raise RAGSTONE_MAX_DOCUMENT_BYTES"
        )
        raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
