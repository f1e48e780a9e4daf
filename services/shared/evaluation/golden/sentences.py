"""The sentences of a document, each as it stands in the text and as a reader would say it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from services.shared.contracts.ids import DocumentId
from services.shared.evaluation.golden.material import Passage, SourceDocument

_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]*_`]*(?=\s+[\"'“‘(\[*_`]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"\b(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|Eq|vs|al|cf|ca|approx|e\.g|i\.e|etc|Inc|Ltd|Jr|U\.S)\.$"
)
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_LINK = re.compile(
    r"(?<!!)\[([^\[\]]{1,300})\](?:\([^()]{0,600}(?:\([^()]{0,200}\)[^()]{0,200})?\)|\[[^\[\]]{0,200}\])"
)
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_]{1,300}?)(?<=\S)\1(?!\w)")
_CODE = re.compile(r"`([^`]{1,80})`")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKUP_LEFT = re.compile(r"\{[%{]|[<>|]|!\[|\]\(|https?:|www\.|[*`\\]|_{2,}|&\w+;")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u202f": " "})


@dataclass(frozen=True)
class Sentence:
    """One sentence of a document."""

    quote: str
    """A stretch of the extracted text, with its line breaks and marks."""
    plain: str
    """The same without marks and line breaks, its quotation marks straight."""
    document_id: DocumentId
    section: str
    negative: bool
    """It stands among what is not the case."""


def sentences_of(document: SourceDocument) -> list[Sentence]:
    """Every sentence that can be read aloud: no code, tables, templates, or sentences that announce a list."""
    return [
        Sentence(quote, spoken, document.document_id, passage.section, passage.kind == "negative")
        for passage in document.passages
        for quote in _quotes(passage)
        if (spoken := plain(quote)) and not spoken.endswith((":", "?"))
    ]


def paragraphs_of(passage: Passage) -> list[str]:
    """Paragraphs and list items of a passage as they stand in the text."""
    body = passage.body
    return [body[start:end] for start, end in _units(body)]


def first_sentences(passage: Passage, most: int) -> str | None:
    """The stretch of the passage's first paragraph that holds its first sentences; None when that is no prose."""
    body = passage.body
    for start, end in _units(body):
        ends = list(_sentence_ends(body, start, end))
        quote = body[start : ends[min(most, len(ends)) - 1]]
        return quote if (spoken := plain(quote)) and not spoken.endswith(":") and len(spoken.split()) > 5 else None
    return None


def plain(quote: str) -> str | None:
    """Without links, emphasis and code marks; None when other markup stays, which nobody could read aloud."""
    text = _LINK.sub(r"\1", quote)
    text = _CODE.sub(r"\1", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = unescape(_ESCAPE.sub(r"\1", text)).translate(_QUOTES)
    text = " ".join(text.split())
    balanced = text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("[") == text.count("]")
    return text if text and balanced and not _MARKUP_LEFT.search(text) else None


def bare(quote: str) -> str:
    """Without the marks of tables, lists and code, where it is no prose; what is left can be compared, if not read."""
    return " ".join(re.sub(r"^[ \t]*[-*+] |[|`*#]+|[:-]{3,}|<[^<>]*>", " ", quote, flags=re.MULTILINE).split())


def _quotes(passage: Passage) -> Iterator[str]:
    body = passage.body
    for start, end in _units(body):
        at = start
        for sentence_end in _sentence_ends(body, start, end):
            yield body[at:sentence_end].strip()
            at = sentence_end


def _sentence_ends(body: str, start: int, end: int) -> Iterator[int]:
    for found in _SENTENCE_END.finditer(body, start, end):
        if not _ABBREVIATION.search(body, start, found.start() + 1):
            yield found.end()
    yield end


def _units(body: str) -> Iterator[tuple[int, int]]:
    """Where each paragraph or list item of prose begins and ends."""
    start: int | None = None
    end = at = 0
    fenced = False
    for line in body.splitlines(keepends=True):
        begin, at = at, at + len(line)
        mark = _LIST_MARK.match(line)
        # Inside of a paragraph a template or image belongs to its sentence, which nobody can read aloud then.
        opens = ("|", ">", "#") if start is not None else ("|", "<", "{%", ">", "#", "![")
        stops = not line.strip() or line.lstrip().startswith(opens) or line.strip("-=*_ \n") == ""
        if _FENCE.match(line):
            fenced, stops = not fenced, True
        if start is not None and (stops or fenced or mark):
            yield start, end
            start = None
        if stops or fenced:
            continue
        if start is None:
            start = begin + (mark.end() if mark else len(line) - len(line.lstrip()))
        end = begin + len(line.rstrip())
    if start is not None:
        yield start, end
