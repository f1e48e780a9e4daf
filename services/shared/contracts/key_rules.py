"""What a new key may be: checked the same way wherever somebody makes one."""

import re
from datetime import datetime
from urllib.parse import urlsplit

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE
from services.shared.contracts.keys import NewKey, Role
from services.shared.contracts.spaces import SPACE_RULE, is_space_name

NUMBER_MAX = 10**12
"""Largest number of questions or tokens; beyond it nothing is a limit."""

_DEFAULT_PORT = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


def checked(wanted: NewKey, now: datetime) -> NewKey:
    """The key as it is kept: its space filled in, its origins canonical. Raises RagstoneError (invalid_request)."""
    name = wanted.name.strip()
    if not name or not name.isprintable():
        raise _refused("name", "is empty or holds characters that cannot be shown; say what the key is for")
    for field in ("requests_per_minute", "daily_tokens"):
        if (getattr(wanted, field) or 0) > NUMBER_MAX:
            raise _refused(field, f"is more than {NUMBER_MAX}; leave it out for the setting's limit")
    if wanted.expires_at is not None and wanted.expires_at.tzinfo is None:
        raise _refused("expires_at", "has no time zone; add one, such as Z")
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise _refused("expires_at", "is over already; choose a moment that is to come")
    _check_public(wanted)
    return wanted.model_copy(
        update={
            "name": name,
            "space": _space(wanted),
            "allowed_origins": list(dict.fromkeys(canonical_origin(origin) for origin in wanted.allowed_origins)),
        }
    )


def canonical_origin(text: str) -> str:
    """An origin as browsers send it: scheme and host in lower case, the port unless it is the usual one.

    Names with other letters than ASCII become their ``xn--`` form. Raises RagstoneError (invalid_request).
    """
    refused = _refused("allowed_origins", f"{text[:80]!r} is no web address such as https://example.com")
    try:
        parts = urlsplit(text.strip().lower())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode() if "[" not in parts.netloc else f"[{parts.hostname}]"
    except (ValueError, UnicodeError):
        raise refused from None
    more = parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _DEFAULT_PORT or more or _HOST.fullmatch(host) is None:
        raise refused
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _DEFAULT_PORT[parts.scheme]) else "")


def _check_public(wanted: NewKey) -> None:
    if wanted.public and wanted.role is not Role.READ:
        raise _refused("role", "of a public key is read: everybody can see it")
    if wanted.public and not wanted.allowed_origins:
        raise _refused("allowed_origins", "name at least one web address, from whose pages a public key is used")
    if wanted.allowed_origins and not wanted.public:
        raise _refused("allowed_origins", "are for a public key; make it public, or leave them out")


def _space(wanted: NewKey) -> str | None:
    if wanted.role is Role.ADMIN:
        if wanted.space is not None:
            raise _refused("space", "of an admin key is every space; leave it out")
        return None
    if wanted.space is not None and not is_space_name(wanted.space):
        raise _refused("space", f"{wanted.space[:80]!r} is not a space's name; use {SPACE_RULE}")
    return wanted.space or DEFAULT_SPACE


def _refused(field: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.INVALID_REQUEST, f"{field}: {why}.")
