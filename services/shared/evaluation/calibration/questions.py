"""What a calibration asks about a space: questions made of its own passages, and ones that it does not answer."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from services.shared.contracts.golden import Behaviour
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import WITHOUT_MAX
from services.shared.evaluation.calibration.by_words import searches
from services.shared.evaluation.calibration.cases import Case, Kind
from services.shared.evaluation.calibration.holders import holders
from services.shared.evaluation.calibration.off_topics import MORE_OFF_TOPICS
from services.shared.evaluation.golden import headings
from services.shared.evaluation.golden.choose import TWO_PART, choose
from services.shared.evaluation.golden.drafts import Draft, shuffled
from services.shared.evaluation.golden.material import SourceDocument
from services.shared.evaluation.golden.off_topics import OFF_TOPICS
from services.shared.evaluation.golden.unanswerable import NEAR
from services.shared.evaluation.golden.words import Corpus, content_words

OF_ALL = 1.45
"""So many questions of a golden set hold one that is answerable and asks for one thing."""
ENOUGH = 150
"""Where the rules find fewer questions than these, searches of rare words are asked too."""


@dataclass(frozen=True)
class Source:
    """A live document and the ids of its passages, in their order."""

    document: SourceDocument
    chunk_ids: tuple[ChunkId, ...]


def cases_of(
    sources: Sequence[Source], drafts: Sequence[Draft], corpus: Corpus, most: int, seed: int, known: Collection[str]
) -> list[Case]:
    """At most ``most`` of each kind; the same for the same content and seed.

    ``known`` are ids of golden questions that are not asked: approved ones, so that an evaluation measures on
    questions that the calibration has not seen, and rejected ones.
    """
    chosen = choose(drafts, corpus, int(OF_ALL * most) + 1, seed, known)
    single = [draft for draft in chosen if draft.behaviour is Behaviour.ANSWER and draft.kind != TWO_PART][:most]
    broad = {draft.text for draft in single if draft.kind == headings.KIND}
    made = _located(sources, [_unlocated(draft) for draft in single], broad)
    if len(made) < min(most, ENOUGH):
        made += _located(sources, _by_words(sources, min(most, ENOUGH) - len(made), seed))
    near = [
        Case(kind=Kind.NEAR_MISS, question=draft.text, document_id=draft.document_id)
        for draft in chosen
        if draft.kind == NEAR
    ]
    far = [text for text in (*OFF_TOPICS, *MORE_OFF_TOPICS) if not corpus.documents_with(content_words(text))]
    off = [Case(kind=Kind.OFF_TOPIC, question=text, document_id=None) for text in shuffled(far, seed)]
    left_out = [case.model_copy(update={"kind": Kind.LEFT_OUT}) for case in made]
    return [*_paired(made, left_out), *near[:most], *off[:most]]


def _unlocated(draft: Draft) -> Case:
    quoted = [quote for quote in draft.quotes if quote]
    return Case(
        kind=Kind.ANSWERABLE,
        question=draft.text,
        document_id=draft.document_id,
        answer=quoted[0] if quoted else draft.expected or "",
        facts=[list(fact) for fact in draft.facts],
    )


def _by_words(sources: Sequence[Source], most: int, seed: int) -> list[Case]:
    """Searches of rare words, one of each passage, the documents in turn."""
    places = [(source, n) for source in sources for n in range(len(source.chunk_ids))]
    found = searches([source.document.passages[n].body for source, n in places])
    made = {
        f"{places[place][0].document.document_id}\n{places[place][1]}": Case(
            kind=Kind.ANSWERABLE,
            question=search,
            document_id=places[place][0].document.document_id,
            answer=sentence,
            by_words=True,
        )
        for place, search, sentence in found
    }
    return [made[key] for key in shuffled(list(made), seed)][:most]


def _located(sources: Sequence[Source], cases: Sequence[Case], broad: Collection[str] = ()) -> list[Case]:
    """The cases with the passages that hold their answers; those of no passage, or of too many, are left out.

    ``broad`` questions ask about a section: every passage of it answers.
    """
    everywhere = [
        (chunk_id, passage.text)
        for source in sources
        for chunk_id, passage in zip(source.chunk_ids, source.document.passages, strict=True)
    ]
    by_id = {source.document.document_id: source for source in sources}
    kept = []
    for case, found in zip(cases, holders([case.answer for case in cases], everywhere), strict=True):
        source = by_id[case.document_id] if case.document_id is not None else None
        gold = [] if source is None else [one for one in found if one in source.chunk_ids]
        if source is not None and case.question in broad:
            gold = _same_sections(source, gold)
        without = list(dict.fromkeys([*gold, *found]))
        if gold and len(without) <= WITHOUT_MAX:
            kept.append(case.model_copy(update={"gold": gold, "holders": without}))
    return kept


def _same_sections(source: Source, gold: Sequence[ChunkId]) -> list[ChunkId]:
    pairs = list(zip(source.chunk_ids, source.document.passages, strict=True))
    sections = {passage.section for chunk_id, passage in pairs if chunk_id in gold}
    return [chunk_id for chunk_id, passage in pairs if passage.section in sections]


def _paired(first: Sequence[Case], second: Sequence[Case]) -> Iterator[Case]:
    """Each question beside its twin, so that a job that is cut short has seen as many of both."""
    for pair in zip(first, second, strict=True):
        yield from pair
