"""Which of many possible questions are proposed: spread over documents and kinds, some of them unanswerable."""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from services.shared.evaluation.golden import headings, likely
from services.shared.evaluation.golden.drafts import Draft, question_id, shuffled
from services.shared.evaluation.golden.unanswerable import near_miss, off_topic
from services.shared.evaluation.golden.words import Corpus

UNANSWERABLE_SHARE = 5
"""One in so many is not answered by the documents."""
OFF_TOPIC_SHARE = 3
"""One in so many of these is off every topic; the others are near ones."""
TWO_PART_SHARE = 12

TWO_PART = "two_part"
ABBREVIATION = "abbreviation"
LEAST_OTHERS = 100
"""A site of little but headings still gets some dozens of questions."""
_SHARES = {headings.KIND: 4, ABBREVIATION: 12}
"""Kinds of which at most one in so many is taken: easy to make, and less of what visitors want to know."""


def choose(drafts: Sequence[Draft], corpus: Corpus, limit: int, seed: int, known: Collection[str] = ()) -> list[Draft]:
    """At most ``limit``: answerable ones, pairs of them, and ones that nothing answers.

    ``known`` are ids of questions that were proposed before: they are passed over, so that the next ones come.
    """
    asked = _without_twins(drafts)
    single = _fresh(asked, known)
    unanswerable = limit // UNANSWERABLE_SHARE
    pairs = _fresh(_two_part(single, min(limit, len(single)) // TWO_PART_SHARE, seed), known)
    chosen = [*_spread(single, limit - unanswerable - len(pairs), seed), *pairs]
    # A site that gives few questions gets as few that it does not answer.
    unanswerable = min(unanswerable, math.ceil(len(chosen) / (UNANSWERABLE_SHARE - 1)))
    return [*chosen, *_unanswerable(asked, corpus, unanswerable, seed, known)]


def _fresh(drafts: Sequence[Draft], known: Collection[str]) -> list[Draft]:
    return [draft for draft in drafts if question_id(draft.kind, draft.text) not in known]


def _unanswerable(drafts: Sequence[Draft], corpus: Corpus, most: int, seed: int, known: Collection[str]) -> list[Draft]:
    far = {draft.text: draft for draft in _fresh(off_topic(corpus), known)}
    drawn = [far[text] for text in shuffled(list(far), seed)]
    chosen = drawn[: most // OFF_TOPIC_SHARE]
    by_text = {draft.text: draft for draft in drafts if draft.kind != headings.KIND}
    near: dict[str, Draft] = {}
    letters = 0
    for document in _queues(list(by_text.values()), seed):
        for draft in document:
            abbreviated = draft.kind == ABBREVIATION
            one = None if abbreviated and letters >= most // _SHARES[ABBREVIATION] else near_miss(draft, corpus)
            if one is not None and one.text not in by_text and _fresh([one], known):
                near.setdefault(one.text, one)
                letters += abbreviated
                break
    # Where nothing nearly fits, off-topic ones take the rest of the places.
    return [*chosen, *near.values(), *drawn[len(chosen) :]][:most]


def _two_part(drafts: Sequence[Draft], most: int, seed: int) -> list[Draft]:
    """Two questions of different documents in one; a right answer answers both."""
    parts = [queue[0] for queue in _queues([draft for draft in drafts if _may_be_part(draft)], seed)]
    return [_joined(*two) for two in zip(parts[::2], parts[1::2], strict=False)][:most]


def _may_be_part(draft: Draft) -> bool:
    asks = draft.text.startswith(("What", "Who", "When", "Where", "How"))
    return (
        bool(draft.facts)
        and asks
        and draft.kind not in (headings.KIND, likely.KIND, ABBREVIATION)
        and len(draft.text.split()) < 13
    )


def _joined(first: Draft, second: Draft) -> Draft:
    text = f"{first.text.rstrip('?')}, and {second.text[:1].lower()}{second.text[1:]}"
    return Draft(
        text,
        TWO_PART,
        first.document_id,
        first.quotes,
        first.facts + second.facts,
        " ".join(said for said in (first.expected, second.expected) if said) or None,
        (TWO_PART,),
        also=tuple((second.document_id, quote) for quote in second.quotes),
    )


def _without_twins(drafts: Sequence[Draft]) -> list[Draft]:
    """One draft for each text. Where two say different things, the question is ambiguous and neither stays."""
    by_text: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_text[draft.text.lower()].append(draft)
    kept = []
    for first, *others in by_text.values():
        same = all(one.facts[:1] == first.facts[:1] and first.facts for one in others)
        if first.kind == likely.KIND or same:
            elsewhere = tuple((one.document_id, quote) for one in others for quote in one.quotes)
            kept.append(replace(first, also=tuple(dict.fromkeys(elsewhere))) if same and others else first)
    return kept


def _spread(drafts: Sequence[Draft], most: int, seed: int) -> list[Draft]:
    """Documents in turn, and of each document its kinds in turn, so that no long or chatty one takes all."""
    queues = _queues(drafts, seed)
    chosen: list[Draft] = []
    # Where other kinds run out before the limit, these do not fill the set up.
    others = sum(draft.kind not in _SHARES for draft in drafts)
    expected = min(most, max(LEAST_OTHERS, others) * 3 // 2)
    left = {kind: max(1, expected // share) for kind, share in _SHARES.items()}
    while queues and len(chosen) < most:
        for queue in queues:
            while queue and left.get(queue[0].kind) == 0:
                queue.pop(0)
            if queue and len(chosen) < most:
                chosen.append(queue.pop(0))
                if chosen[-1].kind in left:
                    left[chosen[-1].kind] -= 1
        queues = [queue for queue in queues if queue]
    return chosen


def _queues(drafts: Sequence[Draft], seed: int) -> list[list[Draft]]:
    by_document: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_document[draft.document_id].append(draft)
    return [_by_turns(by_document[document_id], seed) for document_id in shuffled(list(by_document), seed)]


def _by_turns(drafts: Sequence[Draft], seed: int) -> list[Draft]:
    """Kinds in turn, in an order that differs from document to document."""
    by_kind: dict[str, list[Draft]] = defaultdict(list)
    by_text = {draft.text: draft for draft in drafts}
    for text in shuffled(list(by_text), seed):
        by_kind[by_text[text].kind].append(by_text[text])
    kinds = shuffled([f"{drafts[0].document_id}\n{kind}" for kind in by_kind], seed)
    turns: list[Draft] = []
    while len(turns) < len(by_text):
        for key in kinds:
            turns += by_kind[key.split("\n")[-1]][:1]
            del by_kind[key.split("\n")[-1]][:1]
    return turns
