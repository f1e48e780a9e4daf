"""From outcomes to the whole evaluation, also where half of it is missing."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from services.shared.contracts.evaluation import Evaluation, Outcome, Subject
from services.shared.contracts.golden import fingerprint
from services.shared.evaluation.names import METRICS, SEARCH_TIME
from services.shared.evaluation.summary import brief_metrics
from services.shared.evaluation.variants import FULL, LADDER, VARIANTS
from tests.unit.evaluation.making import ABSTAIN, DECLINE, evaluation, question, review


def answered(id: str, right: bool, confidence: float, **fields: Any) -> Outcome:
    values = {"right": float(right), "score": 1.0 if right else -1.0}
    return Outcome(question_id=id, values=values, status="answered", confidence=confidence, **fields)


def test_everything_of_a_whole_evaluation() -> None:
    questions = [question("a", kind="fact"), question("b", kind="tone"), question("c", kind="fact", behaviour=ABSTAIN)]
    outcomes = [
        answered("a", True, 0.9, answerable=0.8, timings_ms={SEARCH_TIME: 10.0}),
        answered("b", False, 0.7, answerable=0.6, timings_ms={SEARCH_TIME: 30.0, "ask.write": 5.0}),
        Outcome(
            question_id="c", values={"right": 1.0, "score": 1.0}, status="abstained", confidence=0.3, answerable=0.1
        ),
    ]
    found = evaluation(outcomes, questions=questions, name="golden", seed=3, risk=0.2)
    assert (found.name, found.seed, found.fingerprint) == ("golden", 3, fingerprint(questions))
    assert (found.summary.name, found.summary.n) == ("all", 3)
    assert found.summary.values["score"].mean == pytest.approx(1 / 3)
    assert [(row.name, row.n, row.values["right"].mean) for row in found.by_kind] == [
        ("fact", 2, 1.0),
        ("tone", 1, 0.0),
    ]
    assert found.risk_coverage is not None
    assert found.risk_coverage.allowed == 0.2
    assert [point.coverage for point in found.risk_coverage.points] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert [(one.of, sum(b.n for b in one.bins)) for one in found.reliability] == [("confidence", 2), ("answerable", 3)]
    assert [(one.stage, one.n, one.p50_ms) for one in found.latency] == [("ask.write", 1, 5.0), (SEARCH_TIME, 2, 20.0)]
    assert (found.ablation, found.comparison) == ([], None)
    assert brief_metrics(found) == {"score": pytest.approx(1 / 3), "right": pytest.approx(2 / 3)}
    assert list(brief_metrics(found)) == ["score", "right"]
    assert Evaluation.model_validate_json(found.model_dump_json()) == found


def test_retrieval_alone() -> None:
    found = evaluation(
        [Outcome(question_id="a", values={"ndcg@10": 0.5, "gate_right": 1.0}, answerable=0.9)],
        subject=Subject.RETRIEVAL,
    )
    assert brief_metrics(found) == {"ndcg@10": 0.5, "gate_right": 1.0}
    assert found.risk_coverage is None
    assert [one.of for one in found.reliability] == ["answerable"]


def test_no_golds_and_no_facts_leave_only_what_can_be_said() -> None:
    unknown = Outcome(question_id="a", values={"checks": 1.0}, status="answered", confidence=0.9)
    found = evaluation([unknown], questions=[question("a", facts=[])])
    assert brief_metrics(found) == {"checks": 1.0}
    assert (found.risk_coverage, found.reliability) == (None, [])


def test_nothing_at_all() -> None:
    found = evaluation([], questions=[question("a")])
    assert (found.summary.n, found.summary.values, found.by_kind, found.latency) == (0, {}, [], [])
    assert brief_metrics(found) == {}


def test_all_failed() -> None:
    found = evaluation([Outcome(question_id=name, error="503") for name in "abc"])
    assert brief_metrics(found) == {"errors": 1.0}
    assert (found.summary.n, found.by_kind[0].n) == (3, 3)
    assert (found.risk_coverage, found.reliability, found.agreement) == (None, [], [])


def test_a_question_that_failed_is_one_not_answered() -> None:
    found = evaluation([answered("a", True, 0.9), Outcome(question_id="b", error="503")])
    assert found.risk_coverage is not None
    assert found.risk_coverage.points[-1].coverage == 0.5
    assert found.summary.values["errors"].mean == 0.5
    assert found.summary.values["right"].n == 1


def test_what_should_be_declined_says_nothing_of_the_verdict() -> None:
    outcomes = [Outcome(question_id="a", answerable=0.9), Outcome(question_id="b", answerable=0.9)]
    found = evaluation(outcomes, questions=[question("a"), question("b", behaviour=DECLINE)])
    assert [one.n for one in found.reliability[0].bins] == [1]
    assert found.reliability[0].bins[0].was == 1.0


def rows(name: str, ranks: Sequence[float], ms: float) -> list[Outcome]:
    return [
        Outcome(question_id=f"q{n}", variant=name, values={"mrr": rank}, timings_ms={SEARCH_TIME: ms})
        for n, rank in enumerate(ranks)
    ]


def test_the_ladder_in_order_each_row_against_the_one_before() -> None:
    outcomes = [*rows("full", [1.0] * 8, 9.0), *rows("BM25", [0.5] * 8, 4.0), *rows("vectors", [0.25] * 6, 7.0)]
    found = evaluation(outcomes)
    assert [row.name for row in found.ablation] == ["vectors", "BM25", "full"]
    assert [row.p50_ms for row in found.ablation] == [7.0, 4.0, 9.0]
    first, second, third = found.ablation
    assert first.added == {}
    assert (second.added["mrr"].mean, second.added["mrr"].n) == (0.25, 6)
    assert third.added["mrr"].mean == 0.5
    assert third.added["mrr"].low > 0
    assert (found.summary.n, found.latency[0].n) == (8, 8)


def test_each_two_ways_to_review_are_held_against_each_other() -> None:
    found = evaluation(
        [
            Outcome(question_id="a", reviews=[review("accuracy", True), review("accuracy", False, by="judge")]),
            Outcome(question_id="b", reviews=[review("accuracy", True), review("accuracy", True, by="embedding")]),
            Outcome(question_id="c", reviews=[review("checks", True)]),
        ]
    )
    assert [(one.reviewer, one.first, one.second, one.n, one.differ) for one in found.agreement] == [
        ("accuracy", "rule", "embedding", 1, []),
        ("accuracy", "rule", "judge", 1, ["a"]),
    ]


def test_outcomes_of_unknown_questions_are_left_out() -> None:
    outcomes = [Outcome(question_id=name, values={"score": 1.0}) for name in ("a", "gone")]
    assert evaluation(outcomes, questions=[question("a")]).summary.n == 1


def test_each_row_of_the_ladder_switches_every_stage_and_the_whole_none() -> None:
    assert [variant.name for variant in VARIANTS] == [*[variant.name for variant in LADDER], "full"]
    assert set(FULL.stages.model_dump().values()) == {None}
    switched = [variant.stages.model_dump() for variant in LADDER]
    assert all(None not in stages.values() for stages in switched)
    for before, after in pairwise(switched[2:]):
        assert sum(before[stage] != after[stage] for stage in before) == 1


def test_the_table_is_whole() -> None:
    assert all(name == metric.name and metric.words for name, metric in METRICS.items())
    assert METRICS["errors"].worst == 1.0
    assert METRICS["score"].worst == -1.0
    assert METRICS["errors"].gain(0.5, 0.25) == 0.25
