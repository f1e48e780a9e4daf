"""Opaque cursors of paged lists: the sort key of the last row shown, so that new rows shift nothing."""

import base64
import binascii
import json
from datetime import datetime

from services.shared.contracts.errors import ErrorCode, RagstoneError


def encode(of: str, *key: str | int) -> str:
    """A cursor of the list named ``of`` that continues after the row with this sort key."""
    return base64.urlsafe_b64encode(json.dumps([of, *key]).encode()).decode().rstrip("=")


def decode_text(of: str, cursor: str) -> str:
    """The key of a list that is sorted by one string."""
    match _decode(of, cursor):
        case [str(key)]:
            return key
    raise _bad(cursor)


def decode_number(of: str, cursor: str) -> int:
    """The key of a list that is sorted by one whole number."""
    match _decode(of, cursor):
        case [int(key)]:
            return key
    raise _bad(cursor)


def decode_moment(of: str, cursor: str) -> tuple[datetime, str]:
    """The key of a list that is sorted by time and id."""
    match _decode(of, cursor):
        case [str(moment), str(key)]:
            return _moment(moment, cursor), key
    raise _bad(cursor)


def decode_rank(of: str, cursor: str) -> tuple[int, datetime, str]:
    """The key of a list that is sorted by a whole number, time and id."""
    match _decode(of, cursor):
        case [int(rank), str(moment), str(key)]:
            return rank, _moment(moment, cursor), key
    raise _bad(cursor)


def _moment(text: str, cursor: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise _bad(cursor) from None
    if at.tzinfo is None:
        raise _bad(cursor)
    return at


def _decode(of: str, cursor: str) -> list[object]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        raise _bad(cursor) from None
    if not isinstance(value, list) or not value or value[0] != of:
        raise _bad(cursor)
    return value[1:]


def _bad(cursor: str) -> RagstoneError:
    return RagstoneError(
        ErrorCode.INVALID_REQUEST,
        f"cursor {cursor[:80]!r} is not one of this list; send next_cursor of its last page, or none to begin anew",
    )
