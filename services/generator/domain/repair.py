"""What a source says itself, in place of a model's sentence that it does not support."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.generator.domain import terms
from services.generator.domain.model_text import Written, plain
from services.generator.domain.sentences import Kind
from services.generator.domain.support import Place, places
from services.generator.domain.wording import leans_back
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import Span

MEANT = 0.6
"""Least share of the unsupported sentence's words, figures left out, that the source's own sentence holds."""
SURELY_MEANT = 0.8
"""From this share on the words of the question do not matter: the writer took this very sentence for the answer."""
CONTAINED = 0.9
"""A source that holds this share of an earlier sentence's words would say it once more."""
ASKED = 0.5
"""Least share of the question's words in the source's sentence with the headings it stands under."""


@dataclass(frozen=True)
class Repaired:
    """The source's sentence: as it is shown, and where it stands."""

    written: Written
    span: Span
    score: float


def repaired(
    written: Written, questions: Sequence[str], passages: Sequence[Passage], said: Sequence[str], *, alike: float
) -> Repaired | None:
    """The source's sentence that is closest to what was meant, if it is close enough to that and to a question.

    A sentence that lacks a number or code of the question does not answer: rule 149 stands for no rule 500. What was
    ``said`` already, by a likeness of at least ``alike``, is not said again.
    """
    if written.kind == "code":
        return None
    meant = {word for word in terms.words(written.claim) if not any(letter.isdigit() for letter in word)}
    asked = [set(terms.words(question)) for question in questions]
    best: tuple[float, Place] | None = None
    for place in _own_sentences(questions, passages):
        passage = passages[place.passage]
        heading = set(terms.words(f"{passage.title} {passage.section}"))
        words = set(terms.words(place.evidence))
        close = _share(meant, words | heading) if meant & words else 0.0
        asks = max(_share(one, words | heading) for one in asked) >= ASKED
        if (close >= SURELY_MEANT or (close >= MEANT and asks)) and (not best or close > best[0]):
            best = close, place
    if not best or any(_says_too(best[1], one, alike) for one in said):
        return None
    return _as_written(written, passages, best[1], best[0])


def _says_too(place: Place, said: str, alike: float) -> bool:
    return terms.likeness(plain(place.evidence), said) >= alike or terms.overlap(said, place.evidence) >= CONTAINED


def _own_sentences(questions: Sequence[str], passages: Sequence[Passage]) -> Iterator[Place]:
    """Single sentences, and two where the second leans on the first for who or what it speaks of."""
    asked = [terms.codes(question) for question in questions]
    for number, passage in enumerate(passages):
        first_ends = 0
        for place in places(number, passage):
            if place.sentences == 1:
                first_ends = place.end
            own = passage.text[place.start : place.end]
            if place.sentences > 2 or own.rstrip("\"'”’*_ ").endswith(("?", "？")) or leans_back(own):
                continue
            said = terms.known_codes(f"{passage.title}\n{passage.section}\n{place.evidence}")
            if not any(codes <= said for codes in asked):
                continue
            if place.sentences == 1 or leans_back(passage.text[first_ends : place.end]):
                yield place


def _as_written(written: Written, passages: Sequence[Passage], place: Place, close: float) -> Repaired:
    passage = passages[place.passage]
    quote = passage.text[place.start : place.end]
    span = Span(passage=place.passage, start=place.start, end=place.end, quote=quote)
    is_code = quote.startswith(("```", "~~~"))
    text = quote if is_code else " ".join(place.evidence.split())
    before = written.before if written.kind == "prose" and not is_code else "\n\n"
    kind: Kind = "code" if is_code else "prose"
    return Repaired(Written(text, (place.passage,), before, kind), span, round(close, 4))


def _share(wanted: set[str], found: set[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0
