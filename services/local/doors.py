"""The doors of the API in the words of the command line: names as steps of an address, commands in errors."""

import re
from urllib.parse import quote

from services.shared.contracts.errors import ErrorCode, RagstoneError

_ID = r"(?P<id>[^\s/]+)"
_COMMANDS = [
    (re.compile(pattern), command)
    for pattern, command in (
        (r" \(POST /v1/golden/make\)", ""),
        (rf"POST /v1/jobs/{_ID}/retry", r"`ragstone jobs \g<id> --retry`"),
        (rf"POST /v1/jobs/{_ID}/cancel", r"`ragstone jobs \g<id> --cancel`"),
        (rf"GET /v1/jobs/{_ID}/events", r"`ragstone jobs \g<id> --watch`"),
        (r"GET /v1/jobs\b(?!/)", "`ragstone jobs`"),
        (r"GET /v1/evaluations\b(?!/)", "`ragstone eval list`"),
        (r"GET /v1/golden\b(?!/)", "`ragstone golden list`"),
        (rf"POST /v1/gaps/{_ID}/reopen", r"`ragstone gaps reopen \g<id>`"),
        (r"GET /v1/gaps\b(?!/)", "`ragstone gaps list`"),
        (r"GET /v1/feedback\b(?!/)", "`ragstone feedback list`"),
        (rf"DELETE /v1/indexes/{_ID}", r"`ragstone indexes remove \g<id>`"),
        (rf"GET /v1/indexes(?:/{_ID})?", "`ragstone indexes`"),
        (r"Send force: true to promote", "--force promotes"),
    )
]


_OURS = re.compile(r"(`ragstone [^`]+)`")


def as_commands(detail: str, where: str = "") -> str:
    """What the gateway says, with the command in place of each door that has one; ``where`` ends each command."""
    for door, command in _COMMANDS:
        detail = door.sub(command, detail)
    return _OURS.sub(lambda found: f"{found[1]}{where}`", detail)


def step(name: str, *, slashes: bool = False) -> str:
    """One step of an address, whatever the name holds; with ``slashes`` for names that may have some.

    Raises: RagstoneError (invalid_request) for a name that cannot be one: it would be taken out of the address, and
    another door would answer.
    """
    encodable = name.isascii() or not any(0xD800 <= ord(char) <= 0xDFFF for char in name)
    if name in ("", ".", "..") or not encodable or ("/" in name and not slashes):
        lists = "`ragstone eval list`, `golden list`, `feedback list`, `gaps list` and `jobs`"
        detail = f"{name[:80]!a} is no id; {lists} show ids."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    return quote(name, safe="")
