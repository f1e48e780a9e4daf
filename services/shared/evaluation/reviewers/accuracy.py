"""Is the answer right? Sees the question, what is expected, and the answer's text; no sources, no citations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.shared.contracts.evaluation import Review
from services.shared.evaluation.reviewers.denial import denied, denies
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

_RANGE = ("to", "or")


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
    answer affirms does not count where the answer only denies it, nor the other way round. An answer that begins
    with yes where the expected one begins with no, or the reverse, is wrong whatever it states.
    """
    if not case.facts:
        return None
    answer, expected = words(case.answer), words(case.expected or "")
    missing = [note for note in (_missing(fact, answer, expected) for fact in case.facts) if note]
    needed = min(case.needed or len(case.facts), len(case.facts))
    found = len(case.facts) - len(missing)
    if opposite := _opposite(answer, expected):
        return Review(reviewer=REVIEWER, by="rule", passed=False, score=0.0, notes=[opposite, *missing])
    return Review(reviewer=REVIEWER, by="rule", passed=found >= needed, score=min(1.0, found / needed), notes=missing)


def pair(case: AccuracyCase) -> tuple[str, str] | None:
    """The two texts whose likeness ``by_embedding`` judges: expected, answer; None where one of them is missing."""
    answer = without_markers(case.answer).strip()
    return (case.expected, answer) if case.expected and answer else None


def by_embedding(case: AccuracyCase, similarity: float) -> Review | None:
    """Does the answer mean what is expected? ``similarity``: cosine of ``pair``; None where nothing is expected.

    An answer that plainly contradicts what is expected fails however like it is.
    """
    if not case.expected:
        return None
    notes = list(_contradictions(words(case.answer), words(case.expected)))
    score = 0.0 if notes else min(1.0, max(0.0, similarity))
    if similarity < LIKE_ENOUGH:
        notes.append(f"likeness {similarity:.2f} is below {LIKE_ENOUGH}")
    return Review(reviewer=REVIEWER, by="embedding", passed=not notes, score=score, notes=notes)


def _contradictions(answer: Sequence[Word], expected: Sequence[Word]) -> Iterator[str]:
    """Yes for no, another number for an expected one, a denial for a statement or the reverse."""
    if opposite := _opposite(answer, expected):
        yield opposite
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
    wordings = [wording for wording in map(spelled, fact) if wording]
    said = {tuple(wording): _stated(wording, answer) for wording in wordings}
    if not any(said.values()):
        return f"not said: {fact[0] if fact else 'a fact without wording'}"
    wanted = _polarity(wordings, expected)
    if wanted is None or any(
        is_denied is None or is_denied == wanted or (wanted and _other_words(wording, expected))
        for wording, places_of_it in said.items()
        for is_denied in places_of_it
    ):
        return None
    return f"{'affirmed' if wanted else 'denied'}, the wrong way round: {fact[0]}"


def _other_words(wording: Sequence[str], expected: Sequence[Word]) -> bool:
    """Whether a wording puts a denial in words of its own ("mobile development is missing" for "no mobile app")."""
    theirs = {word.text for word in expected}
    return sum(1 for word in wording if word in theirs) < len(wording) / 2


def _stated(wording: Sequence[str], among: Sequence[Word]) -> list[bool | None]:
    """For each place: is it denied there? None where the wording is itself a denial."""
    own = denies(wording)
    return [
        None if own else denied(among, at)
        for at in places(wording, among)
        if not (len(wording) > 1 and among[at].is_number and _ends_a_range(among, at))
    ]


def _ends_a_range(among: Sequence[Word], at: int) -> bool:
    """Whether it is the 13 weeks of "10 to 13 weeks", which is no statement of 13 weeks."""
    return at >= 2 and among[at - 1].text in _RANGE and among[at - 2].is_number


def _polarity(wordings: Sequence[Sequence[str]], expected: Sequence[Word]) -> bool | None:
    """Does the expected answer deny the fact? None where both ways are to be admitted."""
    said = {place for wording in wordings for place in _stated(wording, expected)}
    if len(said) == 1:
        return said.pop()
    if said or not expected or denies([word.text for word in expected]):
        return None
    return False


def _opposite(answer: Sequence[Word], expected: Sequence[Word]) -> str | None:
    first, wanted = (side[0].text if side else "" for side in (answer, expected))
    return f"says {first} instead of {wanted}" if {first, wanted} == {"yes", "no"} else None
