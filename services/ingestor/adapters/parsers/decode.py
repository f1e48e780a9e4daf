"""Bytes to text: byte order mark, then strict UTF-8, and only then a guess, which is never a silent one."""

import codecs
import re
from dataclasses import dataclass

from services.ingestor.domain.stretches import joined
from services.ingestor.domain.western import holds_control_characters, reads_as_western
from services.shared.contracts.errors import ErrorCode, RagstoneError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESSED = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "koi8_r", "iso8859_2",
    "big5", "gb18030", "cp932", "euc_jp", "cp949", "mac_roman", "cp850", "cp866",
]  # fmt: skip
"""Encodings that people's files really have; rarer ones only make the guess worse."""

_NOT_WESTERN = frozenset({"Polish", "Czech", "Slovak", "Slovene", "Hungarian", "Croatian", "Romanian", "Turkish"})
_BINARY = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b")
_NEWLINE = re.compile(r"\r\n?")
_NO_TEXT = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_FOREIGN = re.compile("[\u0250-\u2012\u2027-\u202f\u203b-\u20ab\u20ad-\U0010ffff]")
_WESTERN = "ragstone-western"

MOSTLY = 0.25
"""Whole UTF-8 letters for each stray byte, at least."""

STRAY_ZEROS = 0.2
"""Largest share of zero bytes in a text that was damaged a little."""


@dataclass(frozen=True)
class Decoded:
    """A text with ``\\n`` as its only newline, and what its owner should know of the reading."""

    text: str
    warning: str | None


def decode(data: bytes, name: str, declared: str | None = None) -> Decoded:
    """The text of a file. ``declared`` is an encoding that the file names itself, used when it is not UTF-8.

    Raises UNREADABLE_DOCUMENT when the bytes are no text, or no encoding fits.
    """
    if data.startswith(_BINARY):
        raise _unreadable(name, "it is a binary file whatever its name says; send it under its real extension")
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return _decoded(data[len(mark) :].decode(encoding), name, None)
            except UnicodeDecodeError as error:
                raise _unreadable(
                    name, f"it starts as {encoding} but breaks off being so at byte {error.start}; save it as UTF-8"
                ) from error
    try:
        text = data.decode("utf-8")
        if "\0" not in text:
            return _decoded(text, name, None)
    except UnicodeDecodeError:
        pass
    if b"\0" in data:
        return _with_zeros(data, name)
    return _legacy(data, name, declared)


def _legacy(data: bytes, name: str, declared: str | None) -> Decoded:
    if declared:
        try:
            text = data.decode(declared)
        except (LookupError, UnicodeDecodeError):
            text = ""
        if text and not holds_control_characters(text) and _fits(text, declared):
            return _decoded(text, name, None)
    if _mostly_utf8(data):
        return _decoded(_mixed(data, whole=True), name, "UTF-8 with stray bytes of Windows-1252")
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=_GUESSED).best()
    if best is None or best.language not in _NOT_WESTERN:
        try:
            western = data.decode("cp1252")
        except UnicodeDecodeError:
            western = None
        if western is not None and reads_as_western(western):
            return _decoded(western, name, "Windows-1252")
    if best is None or holds_control_characters(str(best)):
        raise _unreadable(name, "its letters are in an encoding that cannot be told; save it as UTF-8")
    return _decoded(str(best), name, best.encoding)


def _mixed(data: bytes, *, whole: bool) -> str:
    """UTF-8 in which every byte that is none is read as Windows-1252; without ``whole`` only those, UTF-8 as blanks."""
    codecs.register_error(_WESTERN, _western_byte)
    text = data.decode("utf-8", _WESTERN)
    return text if whole else _FOREIGN.sub(" ", text)


def _mostly_utf8(data: bytes) -> bool:
    """Is it UTF-8 with a few Western letters put in? Three bytes that look like one letter seldom stand elsewhere."""
    right = [char for char in data.decode("utf-8", "ignore") if char > "\x7f"]
    if not any(char > "\u07ff" for char in right):
        return False
    mixed = _mixed(data, whole=True)
    strays = sum(1 for char in mixed if char > "\x7f") - len(right)
    return len(right) > MOSTLY * strays and reads_as_western(_mixed(data, whole=False))


def _western_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


def _fits(text: str, declared: str) -> bool:
    """A page that says Windows-1252 or Latin-1 is often wrong; such a claim must read like what it says."""
    single = codecs.lookup(declared).name in ("cp1252", "iso8859-1", "iso8859-15")
    return not single or reads_as_western(text)


def _with_zeros(data: bytes, name: str) -> Decoded:
    """UTF-16 without a byte order mark shows in zeros at every other byte; a text may also hold a few stray ones."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    if len(data) % 2 == 0 and max(even, odd) > 0.3 * len(data) / 2 and min(even, odd) < 0.02 * len(data):
        try:
            return _decoded(data.decode(encoding), name, "UTF-16")
        except UnicodeDecodeError:
            pass
    rest = data.translate(None, b"\0")
    if len(rest) > (1 - STRAY_ZEROS) * len(data) and not _NO_TEXT.search(rest):
        found = decode(rest, name)
        note = f"{name} holds {len(data) - len(rest):,} zero bytes, which were left out"
        return Decoded(found.text, joined([note, found.warning]))
    raise _unreadable(name, "it holds zero bytes, so it is a binary file and no text")


def _decoded(text: str, name: str, guessed: str | None) -> Decoded:
    warnings = []
    if guessed is not None:
        warnings.append(f"{name} is not UTF-8 and was read as {guessed}; save it as UTF-8 if letters look wrong")
    if "\ufffd" in text:
        warnings.append(f"{name} holds replacement characters (U+FFFD): letters were lost before it came here")
    text = _NEWLINE.sub("\n", text.removeprefix("\ufeff")).replace("\0", "")
    return Decoded(text, "; ".join(warnings) or None)


def _unreadable(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
