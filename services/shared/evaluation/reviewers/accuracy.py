"""Is the answer right? Sees the question, what is expected, and the answer's text; no sources, no citations."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.shared.contracts.evaluation import Review
from services.shared.evaluation.reviewers.denial import NEAR, Reading, denied, denies, reading
from services.shared.evaluation.reviewers.wording import Word, places, spelled, without_markers, words

REVIEWER = "accuracy"

LIKE_ENOUGH = 0.35
"""Least cosine of all-MiniLM-L6-v2 between expected answer and answer that counts as right.

Fitted on one half of 95 labelled answers to questions about the sample corpus (a third of them a small model's own,
the others its sentences and written traps): with the contradictions below, 41 of 48 right there and 44 of 47 on the
other half. The likeness alone is right on 32 and 33: it hardly hears a number or a not, so the contradictions, which
were written with all of these answers in sight, carry much of it. tests/unit/evaluation_reviewers/fit.py counts again.
"""
_OPENING = 6
"""Words at an answer's beginning in which a denial is that of the answer and not of an aside."""

_SAID = frozenset({Reading.AFFIRMED, Reading.DENIED})
_VERDICT_END = re.compile(r"[.,;:!-]")
_SPEAKERS = frozenset(["she", "he", "it", "they", "we", "i", "you", "there", "this", "that"])
"""Words that "no" may stand before without a comma and still be an answer; "no problem" is none."""


@dataclass(frozen=True)
class AccuracyCase:
    """All that this reviewer may see. ``facts``: each as its admissible wordings; ``needed`` None is all of them."""

    question: str
    expected: str | None
    facts: Sequence[Sequence[str]]
    needed: int | None
    answer: str


def by_rule(case: AccuracyCase) -> Review | None:
    """Which facts does the answer state? None where no facts are given.

    A fact counts in any of its wordings, on whole words and with numbers compared as numbers. One that the expected
    answer affirms does not count where the answer only denies it, guesses it or names it as a bound, nor the other
    way round. An answer that begins with yes where the expected one begins with no, or the reverse, or that turns
    its "from … to …" round, is wrong whatever it states.
    """
    if not case.facts:
        return None
    answer, expected = words(case.answer), words(case.expected or "")
    missing = [note for note in (_missing(fact, answer, expected) for fact in case.facts) if note]
    needed = min(case.needed or len(case.facts), len(case.facts))
    found = len(case.facts) - len(missing)
    if opposite := _opposite(answer, expected) or _turned_round(answer, expected):
        return Review(reviewer=REVIEWER, by="rule", passed=False, score=0.0, notes=[opposite, *missing])
    return Review(reviewer=REVIEWER, by="rule", passed=found >= needed, score=min(1.0, found / needed), notes=missing)


def pair(case: AccuracyCase) -> tuple[str, str] | None:
    """The two texts whose likeness ``by_embedding`` judges: expected, answer; None where one of them is missing."""
    answer = without_markers(case.answer).strip()
    return (case.expected, answer) if case.expected and answer else None


def by_embedding(case: AccuracyCase, similarity: float) -> Review | None:
    """Does the answer mean what is expected? ``similarity``: cosine of ``pair``; None where nothing is expected.

    An answer that plainly contradicts what is expected fails however like it is, and so does one whose likeness is
    no number.
    """
    if not case.expected:
        return None
    if not math.isfinite(similarity):
        return Review(
            reviewer=REVIEWER, by="embedding", passed=False, score=0.0, notes=[f"likeness is no number: {similarity}"]
        )
    notes = list(_contradictions(words(case.answer), words(case.expected)))
    score = 0.0 if notes else min(1.0, max(0.0, similarity))
    if similarity < LIKE_ENOUGH:
        notes.append(f"likeness {similarity:.2f} is below {LIKE_ENOUGH}")
    return Review(reviewer=REVIEWER, by="embedding", passed=not notes, score=score, notes=notes)


def _contradictions(answer: Sequence[Word], expected: Sequence[Word]) -> Iterator[str]:
    """Yes for no, to for from, another number for an expected one, a denial for a statement or the reverse."""
    yield from filter(None, (_opposite(answer, expected), _turned_round(answer, expected)))
    said, wanted = ({word.text for word in side if word.is_number} for side in (answer, expected))
    lacking = wanted - said
    if lacking and (lacking == wanted or said - wanted):
        yield f"other numbers: not {', '.join(sorted(lacking))}"
    all_said, all_wanted = ([word.text for word in side] for side in (answer, expected))
    if denies(all_wanted) and not denies(all_said):
        yield "affirms what should be denied"
    elif denies(all_said[:_OPENING]) and not denies(all_wanted):
        yield "denies what should be affirmed"


def _missing(fact: Sequence[str], answer: Sequence[Word], expected: Sequence[Word]) -> str | None:
    """Why the fact does not count, or None."""
    wordings = {tuple(spelled(wording)): wording for wording in fact if spelled(wording)}
    said = {wording: _stated(wording, answer) for wording in wordings}
    if not any(said.values()):
        return f"not said: {fact[0] if fact else 'a fact without wording'}"
    admitted = _admitted(wordings, expected)
    if any(
        how is None or how in admitted or (Reading.AFFIRMED not in admitted and _other_words(wording, expected))
        for wording, places_of_it in said.items()
        for how in places_of_it
    ):
        return None
    if all(how is Reading.OPEN for places_of_it in said.values() for how in places_of_it):
        return f"left open: {fact[0]}"
    return f"{'denied' if Reading.AFFIRMED in admitted else 'affirmed'}, the wrong way round: {fact[0]}"


def _other_words(wording: Sequence[str], expected: Sequence[Word]) -> bool:
    """Whether a wording puts a denial in words of its own ("mobile development is missing" for "no mobile app")."""
    theirs = {word.text for word in expected}
    return sum(1 for word in wording if word in theirs) < len(wording) / 2


def _stated(wording: Sequence[str], among: Sequence[Word]) -> list[Reading | None]:
    """For each place: how is it spoken of there? None where the wording is itself a denial."""
    own = denies(wording)
    return [None if own else reading(among, at, len(wording)) for at in places(wording, among)]


def _admitted(wordings: Mapping[tuple[str, ...], str], expected: Sequence[Word]) -> frozenset[Reading]:
    """The ways to speak of a fact that are right, by how the expected answer does.

    A denial that stands far from a name, code or number says nothing of it ("refuses a batch whose sums do not
    agree with the code LQ-3007"), nor does an expected "instead of".
    """
    said = {how for wording in wordings for how in _stated(wording, expected)}
    admitted = frozenset(how for how in said if how)
    if Reading.OPEN in admitted or {word.text for word in expected} & {"or", "from"}:
        admitted |= {Reading.OPEN}
    if not said:
        return admitted | (_SAID if not expected or denies([word.text for word in expected]) else {Reading.AFFIRMED})
    if said == {Reading.OPEN}:
        return admitted | {Reading.AFFIRMED}
    if said == {Reading.DENIED} and not any(_is_far(*one, expected) for one in wordings.items()):
        return admitted
    return admitted if said == {Reading.AFFIRMED} else admitted | _SAID


def _is_far(wording: Sequence[str], raw: str, expected: Sequence[Word]) -> bool:
    """Whether it is a name, code or number that no denial stands near to in a place where it is said."""
    tokens = re.findall(r"\w+", raw)
    if not all(token[0].isupper() or any(map(str.isdigit, token)) for token in tokens):
        return False
    return any(not denied(expected, at, NEAR) for at in places(wording, expected))


def _opposite(answer: Sequence[Word], expected: Sequence[Word]) -> str | None:
    """Yes for no or the reverse; "Yes, she has none" says what "No, she has none" says."""
    first, wanted = _verdict(answer), _verdict(expected)
    if {first, wanted} != {"yes", "no"} or (first == "yes" and _agrees_to_a_denial(answer, expected)):
        return None
    return f"says {first} instead of {wanted}"


def _verdict(among: Sequence[Word]) -> str | None:
    """The yes or no that a text begins with, unless the no belongs to a noun."""
    first = among[0].text if among else None
    if first == "no" and len(among) > 1 and among[1].text not in _SPEAKERS and not _VERDICT_END.search(among[1].gap):
        return None
    return first if first in ("yes", "no") else None


def _agrees_to_a_denial(answer: Sequence[Word], expected: Sequence[Word]) -> bool:
    """Whether the words behind the expected no are a denial, and those behind the answer's yes are one too."""
    behind = [[word.text for word in side[1 : 1 + _OPENING]] for side in (answer, expected)]
    return all(denies(side) for side in behind) and "only" not in behind[0]


def _turned_round(answer: Sequence[Word], expected: Sequence[Word]) -> str | None:
    """The ends of an expected "from … to …" that the answer has the other way round, and nowhere the right one."""
    said = set(_ways(answer))
    for start, end in _ways(expected):
        if start != end and (end, start) in said and (start, end) not in said:
            return f"the wrong way round: from {end} to {start}"
    return None


def _ways(among: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """What stands behind from and behind the to that follows it."""
    texts = [word.text for word in among]
    for at, text in enumerate(texts):
        ends = [to for to in range(at + 2, min(at + 2 + _OPENING, len(texts) - 1)) if texts[to] == "to"]
        if text == "from" and ends:
            yield texts[at + 1], texts[ends[0] + 1]
