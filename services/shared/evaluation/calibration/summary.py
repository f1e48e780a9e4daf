"""From what was asked and seen to the calibration of an index, or why there can be none."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.shared.contracts.calibration import Calibration, Thresholds
from services.shared.contracts.ids import IndexId
from services.shared.contracts.search import FusionName
from services.shared.evaluation.calibration.cases import Asked, Kind, Seen
from services.shared.evaluation.calibration.fit import FOLDS, Fit, fit, probability
from services.shared.evaluation.calibration.notes import advice, notes_on_questions
from services.shared.evaluation.calibration.thresholds import (
    answer_from,
    expected,
    held_out,
    highest_that_loses_little,
    lowest_that_loses_little,
    sides_of,
)
from services.shared.evaluation.statistics import difference

LEAST = 60
"""Questions of a kind below which shares of one in twenty are noise."""
DOCUMENTS_LEAST = 20
"""With fewer documents, questions are kept together by passage and not by document, else a fold would be a topic."""

RRF: Final = "rrf"
RELATIVE: Final = "relative"

_ENDS = (Kind.ANSWERABLE, Kind.OFF_TOPIC)


class TooLittle(Exception):
    """The content gives too few questions; the message says what that means and what to do."""


ENFORCED_FROM = 0.9
"""Expected coverage from which the gate turns away under the threshold. Questions that are made of passages repeat
their words; of visitors' own questions far fewer pass: over the sample corpus a threshold that promised 87 % let 5 of
68 through."""

FLOOR_MOST, CUT_MOST = 0.2, 0.01
"""However high the made questions lie: visitors share fewer words with the passages."""

NOT_ENFORCED = (
    "The least probability is told and not enforced: at this risk only {:.0%} of the answerable questions would be "
    "answered, and visitors' own wording fares worse. RAGSTONE_ANSWERABLE enforces one by hand."
)


@dataclass(frozen=True)
class Occasion:
    """What a calibration records beside what it was fitted on."""

    id: str
    index_id: IndexId
    created_at: datetime
    chunks: int
    risk: float
    seed: int


def check_enough(kinds: Mapping[Kind, int]) -> None:
    """Raises TooLittle when the questions cannot bear a calibration."""
    for kind, which in ((Kind.ANSWERABLE, "that it answers"), (Kind.LEFT_OUT, "whose answer can be left out")):
        there = kinds.get(kind, 0)
        if there < LEAST:
            raise TooLittle(
                f"The content gives {there} questions {which}, and {LEAST} are the least to calibrate by; what held "
                "before stays in force. Add documents, or questions to their front matter, and calibrate again."
            )


def calibrated(asked: Sequence[Asked], occasion: Occasion) -> Calibration:
    """Fit everything. Raises TooLittle."""
    counted = [one for one in asked if one.seen.skipped is None]
    kinds = Counter(one.case.kind for one in counted)
    # What is answerable but was not found says nothing of how passages look that answer.
    clear = [one for one in counted if not _missed(one)]
    told = [one for one in clear if one.seen.features is not None]
    check_enough(kinds | {Kind.ANSWERABLE: sum(one.answerable for one in told)})
    groups = _groups(told)
    try:
        fitted = fit([one.seen.features or {} for one in told], [one.answerable for one in told], groups, occasion.seed)
    except ValueError as error:
        raise TooLittle(
            "Too few questions found anything, or all of them are about one passage, so that none can be held out; "
            "what held before stays in force. Add documents and calibrate again."
        ) from error
    pool = _pool(counted, told, fitted)
    sides = sides_of(pool.probabilities, pool.truth)
    threshold = answer_from(sides, occasion.risk)
    promise = expected(sides, None)
    if threshold is not None:
        promise = held_out(pool.probabilities, pool.truth, pool.fold, occasion.risk)
    enforced = threshold is not None and promise.coverage >= ENFORCED_FROM
    return Calibration(
        id=occasion.id,
        index_id=occasion.index_id,
        created_at=occasion.created_at,
        seq=min(one.seen.seq for one in counted),
        chunks=occasion.chunks,
        risk=occasion.risk,
        expected_risk=promise.risk,
        expected_coverage=promise.coverage,
        asked={kind.value: kinds[kind] for kind in Kind},
        auroc=_auroc(told, fitted),
        thresholds=_thresholds(counted, threshold, occasion.seed),
        enforced=enforced,
        answerability=fitted.logistic,
        notes=[
            *([] if enforced or threshold is None else [NOT_ENFORCED.format(promise.coverage)]),
            *notes_on_questions(counted, fitted),
            *advice(sides, threshold, promise, occasion.risk),
        ],
    )


def _missed(one: Asked) -> bool:
    return one.answerable and one.seen.found is False


def _groups(told: Sequence[Asked]) -> list[str]:
    """By document, or by passage where there are few of them; an off-topic question is alone."""
    by_document = len({one.case.document_id for one in told} - {None}) >= DOCUMENTS_LEAST
    groups = []
    for one in told:
        own = one.case.document_id if by_document or not one.case.gold else one.case.gold[0]
        groups.append(one.case.question if own is None else str(own))
    return groups


@dataclass(frozen=True)
class _Pool:
    """Every question that counts, as fits that did not see it judge it."""

    probabilities: list[float]
    truth: list[bool]
    fold: list[int]


def _pool(counted: Sequence[Asked], told: Sequence[Asked], fitted: Fit) -> _Pool:
    """With those that no fit has seen: what found nothing is turned away, and what was missed may be answered."""
    known = {id(one): (p, n) for one, p, n in zip(told, fitted.held_out, fitted.fold, strict=True)}
    rows = []
    for place, one in enumerate(counted):
        features = one.seen.features
        other = 0.0 if features is None else probability(fitted.logistic, features)
        rows.append(known.get(id(one), (other, place % FOLDS)))
    return _Pool([p for p, _ in rows], [one.answerable for one in counted], [n for _, n in rows])


def _auroc(told: Sequence[Asked], fitted: Fit) -> dict[str, float]:
    """Answerable against each kind of unanswerable, held out; a kind that found nothing is left out."""
    from sklearn.metrics import roc_auc_score

    by_kind = {
        kind: [p for one, p in zip(told, fitted.held_out, strict=True) if one.case.kind is kind] for kind in Kind
    }
    answerable = by_kind.pop(Kind.ANSWERABLE)
    return {
        kind.value: float(roc_auc_score([True] * len(answerable) + [False] * len(others), [*answerable, *others]))
        for kind, others in by_kind.items()
        if others and answerable
    }


def _thresholds(counted: Sequence[Asked], answerable: float | None, seed: int) -> Thresholds:
    """Limits by what was seen of answerable and of off-topic questions; what was not seen is left as it is."""
    clear = [one for one in counted if not _missed(one)]

    def ends(of: Callable[[Seen], float | None]) -> list[list[float]]:
        values = [[of(one.seen) for one in clear if one.case.kind is kind] for kind in _ENDS]
        return [[value for value in end if value is not None] for end in values]

    return Thresholds(
        gate_distance=lowest_that_loses_little(*ends(lambda seen: seen.distance)),
        bm25_floor=_at_most(FLOOR_MOST, highest_that_loses_little(*ends(lambda seen: seen.coverage))),
        critic_cut=_at_most(CUT_MOST, highest_that_loses_little(*ends(lambda seen: seen.critic))),
        answerable=answerable,
        fusion=best_fusion([one.seen.reciprocal for one in counted if one.answerable], seed),
    )


def _at_most(most: float, fitted: float | None) -> float | None:
    return None if fitted is None else min(most, fitted)


def best_fusion(reciprocal: Sequence[Mapping[str, float]], seed: int) -> FusionName | None:
    """The fusion that brings answers farther up beyond chance (paired, 95 %); None when neither does."""
    both = [(one[RRF], one[RELATIVE]) for one in reciprocal if RRF in one and RELATIVE in one]
    if not both:
        return None
    gain = difference([one for one, _ in both], [other for _, other in both], seed)
    if gain.low > 0:
        return RELATIVE
    return RRF if gain.high < 0 else None
