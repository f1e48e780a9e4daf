"""Each question with how it came out, worst first: what the page lists and the table counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.shared.contracts.evaluation import Evaluation, Outcome
from services.shared.contracts.golden import Question
from services.shared.evaluation.report import words
from services.shared.evaluation.variants import FULL


class State(StrEnum):
    """How a question came out, in the word that the report shows."""

    WRONG = "wrong"
    FAILED = "failed"
    HELD_BACK = "held back"
    """Abstained or declined though there is an answer."""
    MISSED = "missed"
    """Retrieval only: no gold passage among the first ten."""
    UNJUDGED = "not judged"
    RIGHT = "right"
    FOUND = "found"


_GOOD = frozenset({State.RIGHT, State.FOUND, State.UNJUDGED})
_ORDER = {state: place for place, state in enumerate(State)}


@dataclass(frozen=True)
class Case:
    """A question of the report. ``anchor`` is made of its place alone, since ids are anybody's text."""

    anchor: str
    question: Question
    outcome: Outcome | None
    state: State
    by_variant: Mapping[str, float]
    """nDCG@10 of each ablated variant."""

    @property
    def good(self) -> bool:
        return self.state in _GOOD


def cases(evaluation: Evaluation) -> list[Case]:
    """All questions, worst first, in the order of the file within a state."""
    outcomes: dict[str, Outcome] = {}
    ranked: dict[str, dict[str, float]] = {}
    for outcome in evaluation.outcomes:
        if outcome.variant == FULL.name:
            outcomes[outcome.question_id] = outcome
        elif words.NDCG in outcome.values:
            ranked.setdefault(outcome.question_id, {})[outcome.variant] = outcome.values[words.NDCG]
    found = []
    for place, question in enumerate(evaluation.questions, start=1):
        outcome_of = outcomes.get(question.id)
        found.append(Case(f"q{place}", question, outcome_of, state(outcome_of), ranked.get(question.id, {})))
    return sorted(found, key=lambda case: _ORDER[case.state])


def state(outcome: Outcome | None) -> State:
    """The answer decides where there is one, else the ranking."""
    if outcome is None:
        return State.UNJUDGED
    if outcome.error is not None:
        return State.FAILED
    if words.SCORE in outcome.values:
        score = outcome.values[words.SCORE]
        return State.RIGHT if score > 0 else State.WRONG if score < 0 else State.HELD_BACK
    if words.RECALL in outcome.values:
        return State.FOUND if outcome.values[words.RECALL] > 0 else State.MISSED
    return State.UNJUDGED


def counts(listed: Sequence[Case]) -> list[tuple[State, int]]:
    """How many came out how, best first; states that did not occur are left out."""
    counted = Counter(case.state for case in listed)
    return [(state_, counted[state_]) for state_ in reversed(State) if counted[state_]]
