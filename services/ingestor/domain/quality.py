"""Is what came out of a file a text that somebody can read? Said once, for every kind of file.

Nothing is mended here: a warning stays with the document, and its extracted text can be looked at.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from services.ingestor.domain.kinds import FileKind
from services.shared.contracts.errors import ErrorCode, RagstoneError

LETTERS_A_PAGE = 12
"""Fewest letters and digits a page, on average. A printed page has 1,500 to 3,000, a slide of a title and a picture 14
and more; what a scanner stamps on a page without text ("CamScanner", a page number) has 10."""

LOST_SHARE = 0.01
"""Share of signs that are no letters any more, above which a reader stumbles: one in a hundred is one in each line."""

LOST_FEWEST = 4
"""Fewer lost signs are a list's marks or a company's sign in a font of its own."""

MOJIBAKE_SHARE = 0.5
"""Share of a text's characters beyond ASCII that stand in pairs like ``Ã©``. Where a whole text was decoded wrongly it
is all of them; a text that only quotes such pairs seldom has no other accents or quotation marks."""

MOJIBAKE_MANY = 10
"""Pairs from which a part of a longer text was decoded wrongly, whatever else it holds."""

MOJIBAKE_RATE = 0.0005
"""Pairs for each character: English has a curly quotation mark or dash every 500 to 2,000 characters."""

SYMBOL_SHARE = 0.9
"""Share of signs that are neither letters nor digits, runs of one sign counted once. Minified code, ASCII tables and
formulas stay under 0.7, a regular expression reaches 0.88; what is over has no words to find."""

SYMBOL_FEWEST = 100
"""Signs; shorter texts may be a formula or a row of emoji."""

CONTROL_SHARE = 0.01
"""Share of control and unassigned characters above which the bytes were no text. Logs colour a word with two of them,
which are the escape character and not counted."""

PIECES, PIECE = 50, 10_000
"""Of a longer text, so many pieces of so many characters are looked at, evenly spread: 0.2 s of work at most."""

_LETTER = re.compile(r"[^\W_]")
_CID = re.compile(r"\(cid:\d{1,5}\)")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_REPEATED = re.compile(r"([^\w\s])(?:\s*\1)+")
_SPACE = re.compile(r"\s+")

_PICTURES = frozenset({FileKind.PDF, FileKind.DOCX, FileKind.PPTX})
_READ_AS = ("cp1252", "cp1251", "latin-1")
"""Encodings as which UTF-8 is read by mistake."""

_PLAUSIBLE = re.compile(
    "[\u00a0-\u00ff\u0100-\u017f\u0370-\u03ff\u0400-\u045f\u0590-\u05ea\u0600-\u06ff\u0900-\u097f\u0e00-\u0e5b"
    "\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20ac\u2122\u2190-\u21ff\u2500-\u25ff\u2600-\u27bf\u3000-\u30ff"
    "\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e\U0001f300-\U0001faff]"
)
"""What the letters must have been: those that people write. Pairs that would give others stand there by chance."""


def judged(text: str, name: str, kind: FileKind, pages: int | None = None) -> str | None:
    """What its owner should know of this text; None when it reads well.

    Raises DOCUMENT_EMPTY when it holds no letter and no digit at all.
    """
    if not _LETTER.search(text):
        raise RagstoneError(ErrorCode.DOCUMENT_EMPTY, _nothing(text, name, kind, pages))
    warnings = [_too_little(text, name, pages)]
    if len(text) > PIECES * PIECE:
        step = len(text) // PIECES
        text = "\n".join(text[at : at + PIECE] for at in range(0, step * PIECES, step))
        name = f"{name} (looked at in part)"
    warnings += [_lost(text, name, kind), _mojibake(text, name), _no_text(text, name)]
    return "; ".join(warning for warning in warnings if warning) or None


def _nothing(text: str, name: str, kind: FileKind, pages: int | None) -> str:
    if "\ufffd" in text or _PRIVATE.search(text):
        why = "its fonts do not say which letters its signs are; run OCR over it, or send another copy"
        return f"no text was found in {name}: {why}"
    if kind in _PICTURES:
        many = f" on its {pages} pages" if pages and pages > 1 else ""
        why = f"it holds pictures only{many}, or nothing; run OCR over it (ocrmypdf, for example) and send the result"
        return f"no text was found in {name}: {why}"
    return f"no text was found in {name}; if it should hold some, check the file and send it again"


def _too_little(text: str, name: str, pages: int | None) -> str:
    if not pages:
        return ""
    letters = sum(map(str.isalnum, text))
    if letters >= LETTERS_A_PAGE * pages or (pages == 1 and letters > LETTERS_A_PAGE / 2):
        return ""
    where = f"the {pages} pages" if pages > 1 else "the one page"
    return (
        f"only {letters} letters were found on {where} of {name}: most of it may be pictures; "
        "run OCR over it if it should hold more"
    )


def _lost(text: str, name: str, kind: FileKind) -> str:
    # A text file with U+FFFD is warned of where it is decoded.
    replaced = text.count("\ufffd") if kind in _PICTURES else 0
    cids = _CID.findall(text)
    private = _PRIVATE.findall(text)
    lost = replaced + len(cids) + len(private)
    if lost < LOST_FEWEST:
        return ""
    signs = len(_SPACE.sub("", text)) - sum(map(len, cids)) + len(cids)
    if lost < LOST_SHARE * signs:
        return ""
    return (
        f"{lost} of {signs:,} signs of {name} are no letters: its fonts do not say which ones they are; "
        "look at its text, and run OCR over it or send another copy if words are lost"
    )


def _mojibake(text: str, name: str) -> str:
    if text.isascii():
        return ""
    beyond = sum(char > "\x7f" for char in text)
    for encoding in _READ_AS:
        pairs = list(_wrongly_read(text, encoding))
        if not pairs or len(pairs) < MOJIBAKE_RATE * len(text):
            continue
        # Ukrainian has words that begin like such pairs; no western language has.
        many = len(pairs) >= MOJIBAKE_MANY and encoding != "cp1251"
        if many or sum(map(len, pairs)) >= MOJIBAKE_SHARE * beyond:
            shown = Counter(pairs).most_common(1)[0][0]
            return (
                f"{name} was probably stored in a wrong encoding before it came here: {shown!r} stands for "
                f"{_meant(shown, encoding)!r}, and {len(pairs):,} such signs were found; "
                "repair it (ftfy, for example) and send it again"
            )
    return ""


def _wrongly_read(text: str, encoding: str) -> Iterator[str]:
    """Signs that stand for one letter each, if the text is UTF-8 that was read as this encoding.

    Only those that touch a letter or each other: ``“Ã”`` in quotation marks is such a sign by chance.
    """
    one = _sign(encoding)
    for run in re.finditer(f"(?:{one})+", text):
        signs = re.findall(one, run[0])
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        if len(signs) > 1 or before.isalnum() or after.isalnum():
            yield from (sign for sign in signs if _PLAUSIBLE.fullmatch(_meant(sign, encoding)))


@cache
def _byte_of(encoding: str) -> dict[str, int]:
    """The byte of each character beyond ASCII; bytes without one stand for themselves, as in most programs."""
    table: dict[str, int] = {}
    for byte in range(0x80, 0x100):
        try:
            table[bytes([byte]).decode(encoding)] = byte
        except UnicodeDecodeError:
            table[chr(byte)] = byte
    return table


@cache
def _sign(encoding: str) -> str:
    """The pattern of what one letter beyond ASCII becomes: two to four characters."""
    table = _byte_of(encoding)

    def among(first: int, last: int) -> str:
        return "[" + "".join(re.escape(char) for char, byte in table.items() if first <= byte <= last) + "]"

    tail = among(0x80, 0xBF)
    return f"{among(0xC2, 0xDF)}{tail}|{among(0xE0, 0xEF)}{tail}{{2}}|{among(0xF0, 0xF4)}{tail}{{3}}"


def _meant(sign: str, encoding: str) -> str:
    table = _byte_of(encoding)
    return bytes(table[char] for char in sign).decode("utf-8", "replace")


def _no_text(text: str, name: str) -> str:
    signs = _SPACE.sub("", _REPEATED.sub(r"\1", text))
    control = len(_CONTROL.findall(signs))
    if control >= LOST_FEWEST and control > CONTROL_SHARE * len(signs):
        return f"{control:,} of {len(signs):,} signs of {name} are control characters: it may be no text at all"
    if len(signs) < SYMBOL_FEWEST:
        return ""
    words = sum(unicodedata.category(char)[0] in "LNM" for char in signs)
    if words < (1 - SYMBOL_SHARE) * len(signs):
        return f"{name} holds hardly any words: {len(signs) - words:,} of its {len(signs):,} signs are symbols"
    return ""
