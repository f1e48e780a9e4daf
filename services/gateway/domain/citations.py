"""From what the writer quotes to numbered citations that point into a document's extracted text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent_encoded

from services.gateway.domain.layout import between
from services.shared.contracts.answers import Citation
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.places import place_of
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten, Span

TextOf = tuple[DocumentId, VersionId]
"""Names one extracted text."""

_CODE_OR_MARKER = re.compile(
    r"(`[^`]*`|(?<![\w.])(?:[A-Za-z]\w*_\w*|[A-Za-z]|arr\w*|arg[sv]|list|items?|data|values?|rows?|cols?|buf\w*)"
    r"\[\d+\])|\[(\d+)\]"
)
"""Code, or an element such as arr[3] that is written without code ticks; or what could be taken for a citation."""


@dataclass(frozen=True)
class Quote:
    """A stretch of a document that supports a sentence; offsets in its extracted text, in code points."""

    passage: Passage
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Quoted:
    """A sentence of the writer with all that it quotes."""

    text: str
    score: float
    quotes: tuple[Quote, ...]
    before: str
    """Layout between the sentence before and this one."""


def quoted_sentence(written: SentenceWritten, passages: Sequence[Passage]) -> Quoted | None:
    """The sentence with its quotes; None when it has none or one of them is not in the passages."""
    quotes: list[Quote] = []
    for span in written.spans:
        if not _is_in(span, passages):
            return None
        passage = passages[span.passage]
        # What lies in the repeated table header has no place of its own in the extracted text.
        begin = max(span.start, passage.lead)
        if begin < span.end:
            shift = passage.start - passage.lead
            quotes.append(Quote(passage, begin + shift, span.end + shift, passage.text[begin : span.end]))
    if not quotes:
        return None
    return Quoted(plain_brackets(written.text), written.score, tuple(quotes), between(written.before))


def _is_in(span: Span, passages: Sequence[Passage]) -> bool:
    if not 0 <= span.passage < len(passages):
        return False
    text = passages[span.passage].text
    return 0 <= span.start < span.end <= len(text) and text[span.start : span.end] == span.quote


def holds(quote: Quote, texts: Mapping[TextOf, str]) -> bool:
    """Is the quoted version among these live texts, and does the quote stand there word for word?"""
    text = texts.get((quote.passage.document_id, quote.passage.version))
    return text is not None and text[quote.start : quote.end] == quote.text


def passage_holds(passage: Passage, texts: Mapping[TextOf, str]) -> bool:
    """The same for a whole passage."""
    text = texts.get((passage.document_id, passage.version))
    return text is not None and text[passage.start : passage.end] == passage.text[passage.lead :]


def still_there(passage: Passage, texts: Mapping[TextOf, str]) -> Passage:
    """The passage without the other places that are not live any more."""
    if not passage.also_in:
        return passage
    there = [also for also in passage.also_in if (also.document_id, also.version) in texts]
    return passage.model_copy(update={"also_in": there})


class Numbering:
    """Gives citations their numbers in order of appearance, one a distinct stretch of a chunk."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], Citation] = {}

    def cite(self, sentence: Quoted) -> list[Citation]:
        """The citations of a sentence, in the order of its quotes, each once."""
        return list({self._of(quote).n: self._of(quote) for quote in sentence.quotes}.values())

    @property
    def citations(self) -> list[Citation]:
        """All so far, by number."""
        return list(self._known.values())

    def _of(self, quote: Quote) -> Citation:
        place = (quote.passage.chunk_id, quote.start, quote.end)
        if place not in self._known:
            self._known[place] = _citation(len(self._known) + 1, quote)
        return self._known[place]


def _citation(n: int, quote: Quote) -> Citation:
    passage = quote.passage
    return Citation(
        n=n,
        document_id=passage.document_id,
        version=passage.version,
        title=passage.title,
        source=passage.source,
        section=passage.section,
        place=place_of(passage.places, quote.start, quote.end),
        type=passage.type,
        chunk_id=passage.chunk_id,
        start=quote.start,
        end=quote.end,
        quote=quote.text,
        url=source_url(passage.document_id, passage.version, quote.start, quote.end),
    )


def source_url(document_id: DocumentId, version: VersionId, start: int, end: int) -> str:
    """Opens the extracted text at the marked place, relative to the gateway."""
    path = f"/v1/documents/{percent_encoded(document_id, safe='')}/source"
    return f"{path}?version={percent_encoded(version, safe='')}&as=text#{start}-{end}"


def plain_brackets(text: str) -> str:
    """A source's own "[7]" becomes "(7)", lest it be taken for a citation; code keeps its brackets."""
    return _CODE_OR_MARKER.sub(lambda match: match.group(1) or f"({match.group(2)})", text)
