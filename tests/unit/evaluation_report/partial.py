"""Evaluations that lack something, by what they lack."""

from collections.abc import Callable
from math import nan

from services.shared.contracts.evaluation import Estimate, Evaluation, Outcome, Row, Subject
from tests.unit.evaluation_report.fixture import evaluation

_RANKINGS = ("ndcg@10", "mrr", "recall@5", "recall@10", "gate_right")
_NO_ANSWERS: dict[str, object] = {
    "status": None, "reason": None, "text": None, "confidence": None, "citations": [], "writer": None, "reviews": [],
}  # fmt: skip


def retrieval_only() -> Evaluation:
    """Nobody answered: no score, no confidence, no reviewers."""
    base = evaluation()

    def kept(row: Row) -> Row:
        return row.model_copy(update={"values": {name: row.values[name] for name in _RANKINGS if name in row.values}})

    def found(outcome: Outcome) -> Outcome:
        values = {name: value for name, value in outcome.values.items() if name in _RANKINGS}
        return outcome.model_copy(update={**_NO_ANSWERS, "values": values})

    return base.model_copy(
        update={
            "subject": Subject.RETRIEVAL,
            "outcomes": [found(outcome) for outcome in base.outcomes],
            "summary": kept(base.summary),
            "by_kind": [kept(row) for row in base.by_kind],
            "risk_coverage": None,
            "reliability": [],
            "agreement": [],
            "comparison": None,
        }
    )


def bare() -> Evaluation:
    """Neither ablation nor comparison nor judge."""
    return evaluation().model_copy(
        update={"ablation": [], "comparison": None, "agreement": [], "reliability": [], "risk_coverage": None}
    )


def one_question() -> Evaluation:
    """Its intervals have no width."""
    base = evaluation()
    sure = {name: Estimate(mean=1.0, low=1.0, high=1.0, n=1) for name in base.summary.values}
    row = Row(name="identity", n=1, values=sure)
    return base.model_copy(
        update={
            "questions": base.questions[:1],
            "outcomes": base.outcomes[:1],
            "summary": row,
            "by_kind": [row],
            "comparison": None,
        }
    )


def only_errors() -> Evaluation:
    """The gateway was down: nothing was measured."""
    base = evaluation()
    nothing = Row(name="all", n=len(base.questions), values={})
    return base.model_copy(
        update={
            "outcomes": [Outcome(question_id=one.id, error="gateway: refused") for one in base.questions],
            "summary": nothing,
            "by_kind": [nothing.model_copy(update={"name": "identity"})],
            "ablation": [],
            "risk_coverage": None,
            "reliability": [],
            "latency": [],
            "agreement": [],
            "comparison": None,
        }
    )


def no_questions() -> Evaluation:
    """An empty set, of which nothing ran and no setting is known."""
    return only_errors().model_copy(update={"questions": [], "outcomes": [], "by_kind": [], "system": {}})


def not_numbers() -> Evaluation:
    """A metric that had no sense anywhere."""
    base = bare()
    empty = Estimate(mean=nan, low=nan, high=nan, n=0)
    rows = [row.model_copy(update={"values": {**row.values, "score": empty}}) for row in base.by_kind]
    summary = base.summary.model_copy(update={"values": {**base.summary.values, "score": empty}})
    return base.model_copy(update={"by_kind": rows, "summary": summary})


def no_threshold() -> Evaluation:
    """No confidence keeps to the allowed risk."""
    base = evaluation()
    assert base.risk_coverage is not None
    curve = base.risk_coverage.model_copy(update={"threshold": None, "coverage": 0.0})
    return bare().model_copy(update={"risk_coverage": curve})


PARTIAL: dict[str, Callable[[], Evaluation]] = {
    made.__name__: made
    for made in (retrieval_only, bare, one_question, only_errors, no_questions, not_numbers, no_threshold)
}
