"""Names that clients choose: spaces, document ids, and the display names of uploaded files."""

import hashlib
import re
import unicodedata

from services.shared.contracts.documents import DOCUMENT_ID_MAX, document_id_fault
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.contracts.spaces import SPACE_RULE, is_space_name

NAME_MAX_BYTES = 255
"""Longest display name in UTF-8, as common file systems take it."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)", re.IGNORECASE)
_BIDI_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_NOT_IN_NAMES = ("Cc", "Cs", "Zl", "Zp")


def space_named(name: str) -> SpaceId:
    """The space of a Ragstone-Space header; raises RagstoneError (space_invalid)."""
    if not is_space_name(name):
        detail = f"Ragstone-Space {name[:80]!r} is not a space's name; use {SPACE_RULE}."
        raise RagstoneError(ErrorCode.SPACE_INVALID, detail)
    return SpaceId(name)


def chosen_document_id(id: str) -> DocumentId:
    """An id that a client chose, if it can be addressed in a URL; raises RagstoneError (document_id_invalid)."""
    if wrong := document_id_fault(id):
        raise RagstoneError(ErrorCode.DOCUMENT_ID_INVALID, f"Document id {id[:80]!r} {wrong}; choose another.")
    return DocumentId(id)


def display_name(sent: str, place: str) -> str:
    """The cleaned name of an uploaded file; it is shown and is the document's id, and never becomes a path.

    What stands before the last slash of either kind goes, and control characters; a name that Windows
    reserves for a device gets a leading underscore; one that is too long is cut before its extension and
    gets a few digits of its hash, so that two long names stay two.
    ``place`` names the file in the error, such as "file 2".
    Raises: RagstoneError (document_id_invalid) when no name is left.
    """
    base = re.split(r"[/\\]", sent)[-1]
    kept = "".join(
        char for char in base if unicodedata.category(char) not in _NOT_IN_NAMES and char not in _BIDI_CONTROLS
    )
    name = unicodedata.normalize("NFC", kept).strip()
    if not name.strip("."):
        detail = f"The name of {place}, {sent[:80]!r}, leaves nothing to call it by; rename it and send it again."
        raise RagstoneError(ErrorCode.DOCUMENT_ID_INVALID, detail)
    if _RESERVED.match(name):
        name = f"_{name}"
    return _shortened(name)


def _shortened(name: str) -> str:
    if len(name.encode()) <= NAME_MAX_BYTES and len(name) <= DOCUMENT_ID_MAX:
        return name
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > 16:
        stem, dot, extension = name, "", ""
    tail = f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}{dot}{extension}"
    room = NAME_MAX_BYTES - len(tail.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + tail


def id_of_text(text: bytes) -> DocumentId:
    """The id of a text that was sent without one: the same text again is the same document."""
    return DocumentId(f"text-{hashlib.sha256(text).hexdigest()[:16]}")
