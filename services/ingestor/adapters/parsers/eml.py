"""E-mails by the standard library: a short head, the words, and the attachments through the other parsers."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, TypeVar, cast

from services.ingestor.adapters.parsers import html
from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.adapters.parsers.xml_parts import unreadable
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.storable import storable_text
from services.ingestor.domain.stretches import Stretches, as_markdown, joined
from services.shared.contracts.documents import TITLE_MAX
from services.shared.contracts.errors import RagstoneError

ATTACHMENTS_MAX = 100
PARTS_MAX = 2_000
HEADER_MAX = 500
"""Characters of a header that are kept: a mail to a whole company names all of it."""

HEADER_READ = 5_000
"""Characters of a header that are read at all."""

BODY = "message"
"""The place of a mail's own words."""

_T = TypeVar("_T")

ReadAttachment = Callable[[bytes, str, str], Extracted]
"""Reads a file in a file: bytes, name, media type. Raises RagstoneError for one that cannot be read."""

_HEADERS = ("From", "To", "Cc", "Date")
_KNOWN = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path"})
_BOUNDARY = re.compile(rb"""boundary\s*=\s*"?([^"\r\n;]{1,200})""", re.IGNORECASE)
_DASHES = re.compile(rb"^--([^\r\n]{0,210})", re.MULTILINE)
_PATH = re.compile(r".*[\\/]")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/=]*+[ \t]*+[\r\n]++)*+[A-Za-z0-9+/=]*+\s*+")
_TEXTS = ("text/plain", "text/html")
_PICTURES = frozenset({"image", "audio", "video"})


@dataclass
class _Parts:
    """What a mail consists of."""

    bodies: list[EmailMessage] = field(default_factory=list)
    attached: list[EmailMessage] = field(default_factory=list)
    seen: int = 0


def parse(data: bytes, name: str, read: ReadAttachment) -> Extracted:
    """The mail's text. What cannot be read of it is left out with a warning; its other parts are unharmed."""
    # Programs put a line of their own above the headers when they keep mails in one file.
    data = _with_few_parts(data.lstrip(b"\r\n"))
    mail = cast(EmailMessage, BytesParser(EmailMessage, policy=_ShortHeaders()).parsebytes(data))
    if not _KNOWN & {key.lower() for key in mail.keys()}:  # noqa: SIM118
        raise unreadable(name, "it has no headers of an e-mail; send it under its real extension")
    parts, warnings = _Parts(), []
    _sort(mail, parts)
    if parts.seen > PARTS_MAX:
        warnings.append(f"{name} has more than {PARTS_MAX:,} parts; the others were left out")
    out = Stretches()
    subject = _header(mail, "Subject")
    names = [_name_of(one, n) for n, one in enumerate(parts.attached, start=1)]
    out.add(_head(mail, subject, names), BODY)
    for body in parts.bodies:
        _add_body(out, body, name, warnings)
    for n, (attached, called) in enumerate(zip(parts.attached, names, strict=True)):
        if n == ATTACHMENTS_MAX:
            warnings.append(f"{name} has {len(names)} attachments; the first {ATTACHMENTS_MAX} were read")
            break
        _add_attachment(out, attached, called, read, warnings)
    return Extracted(
        text=out.text, markdown=True, title=subject[:TITLE_MAX] or None, warning=joined(warnings), places=out.places
    )


class _ShortHeaders(EmailPolicy):
    """Reads the beginning of a header: the library's time grows with the square of its length."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:HEADER_READ])


def _with_few_parts(data: bytes) -> bytes:
    """The mail up to the part that would be one too many; the library makes objects of all that it is given."""
    boundaries = {found[1].strip() for found in islice(_BOUNDARY.finditer(data), PARTS_MAX)}
    seen = 0
    for line in _DASHES.finditer(data):
        seen += line[1].rstrip() in boundaries
        if seen > PARTS_MAX + 1:
            return data[: line.start()]
    return data


def _sort(mail: EmailMessage, parts: _Parts) -> None:
    """Finds the words and the attachments, in order; without recursion, so that depth is no danger."""
    pending = [mail]
    while pending and parts.seen <= PARTS_MAX:
        one = pending.pop()
        parts.seen += 1
        kind = one.get_content_type()
        if kind == "message/rfc822" or _is_attached(one):
            parts.attached.append(one)
        elif kind == "multipart/alternative":
            pending += _better(_inner(one))[::-1]
        elif one.is_multipart():
            pending += _inner(one)[::-1]
        elif kind in _TEXTS or one.get_content_maintype() == "multipart":
            parts.bodies.append(one)
        elif one.get_content_maintype() not in _PICTURES:
            parts.attached.append(one)


def _inner(one: EmailMessage) -> list[EmailMessage]:
    inner = one.get_payload()
    return [part for part in inner if isinstance(part, EmailMessage)] if isinstance(inner, list) else []


def _is_attached(one: EmailMessage) -> bool:
    if one.is_multipart():
        return False
    named = _quietly(one.get_filename) is not None
    picture = one.get_content_maintype() in _PICTURES
    said = (_quietly(one.get_content_disposition) or "").lower()
    # A picture inside the text is a logo; a named part of any other kind is a file.
    return said == "attachment" or (named and not (picture and one.get("Content-ID")))


def _better(ways: list[EmailMessage]) -> list[EmailMessage]:
    """Of several ways to say the same the plain one, unless it says little beside the other: "open in a browser"."""
    plain = [one for one in ways if one.get_content_type() == "text/plain"]
    rich = [one for one in ways if one.get_content_type() != "text/plain"]
    if not plain or not rich:
        return ways
    return plain[:1] if len(_payload(plain[0]).split()) >= 10 or len(_payload(rich[-1])) < 2_000 else rich[-1:]


def _head(mail: EmailMessage, subject: str, names: list[str]) -> str:
    lines = [f"{key}: {said}" for key in _HEADERS if (said := _header(mail, key))]
    lines += [f"Attachments: {', '.join(names)}"[:HEADER_MAX]] if names else []
    return "".join((f"# {subject}\n\n" if subject else "", "\n".join(lines), "\n\n"))


def _add_body(out: Stretches, body: EmailMessage, name: str, warnings: list[str]) -> None:
    declared = _quietly(body.get_content_charset)
    try:
        if body.get_content_type() == "text/html":
            found = html.parse_whole(_payload(body), name, declared)
            text, warning = found.text, found.warning
        else:
            decoded = decode(_payload(body), name, declared)
            text, warning = as_markdown(decoded.text), decoded.warning
    except RagstoneError as error:
        warnings.append(error.detail)
        return
    if text.strip():
        out.add(text.strip("\n") + "\n", BODY)
        out.gap()
    warnings.append(warning or "")


def _add_attachment(
    out: Stretches, attached: EmailMessage, called: str, read: ReadAttachment, warnings: list[str]
) -> None:
    if attached.get_content_maintype() in _PICTURES:
        warnings.append(f"the attachment {called} is no text and was not read")
        return
    try:
        if attached.get_content_type() == "message/rfc822":
            found = read(_whole(attached), called, "message/rfc822")
        else:
            found = read(_payload(attached), called, attached.get_content_type())
    except RagstoneError as error:
        warnings.append(f"an attachment was not read: {error.detail}")
        return
    out.gap()
    out.add(f"## Attachment {called}\n\n", f"attachment {called}")
    out.add_document(found, f"attachment {called}", depth=2)
    if found.warning:
        warnings.append(f"attachment {called}: {found.warning}")


def _name_of(one: EmailMessage, number: int) -> str:
    """The file's own name, without any path; a forwarded mail goes by its subject."""
    said = _quietly(one.get_filename) or ""
    if not said and one.get_content_type() == "message/rfc822" and (inner := _inner(one)):
        said = f"{_header(inner[0], 'Subject').replace('/', '-') or 'message'}.eml"
    plain = " ".join(storable_text(_PATH.sub("", said)).split())[-100:]
    return plain or f"part {number}"


def _header(mail: EmailMessage, key: str) -> str:
    said = _quietly(lambda: str(mail.get(key, "")))
    words = " ".join(storable_text(said or "").split())[:HEADER_MAX]
    if key != "Date" or not words:
        return words
    when = _quietly(lambda: parsedate_to_datetime(words))
    return when.strftime("%Y-%m-%d %H:%M") if when else words


def _quietly(ask: Callable[[], _T]) -> _T | None:
    """The library raises whatever a broken header made it stumble over; such a header says nothing."""
    try:
        return ask()
    except Exception:
        return None


def _payload(one: EmailMessage) -> bytes:
    """The decoded bytes; what is not encoded as it says is taken as it stands."""
    raw = one.get_payload()
    said = _quietly(lambda: str(one.get("Content-Transfer-Encoding", ""))) or ""
    if said.strip().lower() == "base64" and not (isinstance(raw, str) and _BASE64.fullmatch(raw)):
        del one["Content-Transfer-Encoding"]
    payload = _quietly(lambda: one.get_payload(decode=True))
    if isinstance(payload, bytes):
        return payload
    return raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else b""


def _whole(forwarded: EmailMessage) -> bytes:
    """A forwarded mail as the file it was."""
    inner = _inner(forwarded)
    return (_quietly(inner[0].as_bytes) or b"") if inner else _payload(forwarded)
