"""The veto: never for a copy or a gain, seldom for noise, always for a clear loss."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from services.shared.contracts.evaluation import Evaluation, Outcome
from services.shared.contracts.golden import Behaviour
from services.shared.evaluation.comparison import compare, unjudged
from services.shared.evaluation.names import METRICS
from tests.e2e.stack import WHOLE
from tests.unit.evaluation.making import evaluation, question, run

VETO = [name for name, metric in METRICS.items() if metric.veto]
N = 80
RUNS = 200 if WHOLE else 60


def everything(value: Callable[[str], float]) -> dict[str, float]:
    return {name: value(name) for name in VETO}


def perfect(n: int = N) -> list[dict[str, float]]:
    return [everything(lambda _: 1.0) for _ in range(n)]


def losing(n: int, *, metric: str = "score", value: float = -1.0) -> list[dict[str, float]]:
    return [{**values, metric: value} if place < n else values for place, values in enumerate(perfect())]


def vetoed(before: Sequence[dict[str, float]], after: Sequence[dict[str, float]], seed: int = 0) -> bool:
    return compare(run(before), run(after), seed).vetoed


def test_a_copy_is_never_vetoed() -> None:
    chance = np.random.default_rng(0)
    for seed in range(20):
        values = [everything(lambda _: float(chance.random())) for _ in range(N)]
        found = compare(run(values), run(values), seed)
        assert not found.vetoed
        assert found.questions == []
        assert all(
            (c.difference.low, c.difference.high, c.worse, c.better) == (0, 0, False, False) for c in found.changes
        )


def test_a_gain_is_never_vetoed() -> None:
    chance = np.random.default_rng(1)
    for seed in range(20):
        before = [everything(lambda _: float(chance.random())) for _ in range(N)]
        after = [{k: v + float(chance.random() < 0.2) * (1 - v) for k, v in values.items()} for values in before]
        found = compare(run(before), run(after), seed)
        assert not found.vetoed
        assert any(change.better for change in found.changes)


@pytest.mark.parametrize("changing", [0.1, 1.0])
def test_noise_is_vetoed_in_one_run_of_twenty_at_most(changing: float) -> None:
    chance = np.random.default_rng(2)
    alarms = 0
    for seed in range(RUNS):
        steps = chance.choice([-1.0, 1.0], size=(40, len(VETO))) * (chance.random((40, len(VETO))) < changing)
        before = [everything(lambda _: 0.0)] * 40
        after = [dict(zip(VETO, map(float, row), strict=True)) for row in steps]
        alarms += vetoed(before, after, seed)
    assert alarms <= RUNS / 20


def test_a_clear_loss_is_vetoed() -> None:
    for seed in range(20):
        assert vetoed(perfect(), losing(10), seed)
    assert vetoed(perfect(), losing(10, metric="ndcg@10", value=0.6))


def test_a_metric_that_always_has_sense_is_not_lost_for_nothing() -> None:
    after = [{k: v for k, v in values.items() if n > 15 or k != "score"} for n, values in enumerate(perfect())]
    assert vetoed(perfect(), after)
    silent = [
        {k: v for k, v in values.items() if n > 15 or k != "citation_recall"} for n, values in enumerate(perfect())
    ]
    assert not vetoed(perfect(), silent), "who is silent cites nothing, which the score says"


def test_what_is_expected_otherwise_is_another_question() -> None:
    before = run(perfect())
    edited = [one.model_copy(update={"facts": [["something else"]]}) for one in before.questions[:30]]
    after = run(losing(30)).model_copy(update={"questions": [*edited, *before.questions[30:]]})
    found = compare(before, after, 0)
    assert (found.paired, found.only_before, found.only_after, found.vetoed) == (N - 30, 30, 30, False)
    retold = [one.model_copy(update={"kind": "renamed", "tags": ["new"]}) for one in before.questions]
    assert compare(before, before.model_copy(update={"questions": retold}), 0).paired == N


@pytest.mark.parametrize(("was", "became", "gave_in"), [
    ("declined", "answered", True),
    ("abstained", "answered", True),
    ("answered", "answered", False),
    ("declined", "abstained", False),
])  # fmt: skip
def test_one_question_that_gave_in_is_enough(*, was: str, became: str, gave_in: bool) -> None:
    asked = question("q", behaviour=Behaviour.DECLINE)

    def of(status: str) -> Evaluation:
        return evaluation([Outcome(question_id="q", values={"score": 1.0}, status=status)], questions=[asked])

    found = compare(of(was), of(became), 0)
    assert found.vetoed is gave_in
    assert found.gave_in == (["q"] if gave_in else [])


def test_a_small_loss_is_not() -> None:
    for seed in range(20):
        assert not vetoed(perfect(), losing(2), seed)


def test_a_loss_that_wins_outweigh_is_not() -> None:
    mixed = [{**values, "score": 0.0} for values in perfect()]
    after = [{"score": -1.0} if n < 10 else {"score": 1.0} if n < 25 else {"score": 0.0} for n in range(N)]
    assert not vetoed(mixed, after)


def test_only_the_table_says_what_is_vetoed() -> None:
    before = [{"accuracy": 1.0, "score": 1.0}] * N
    found = compare(run(before), run([{"accuracy": 0.0, "score": 1.0}] * N), 0)
    assert not found.vetoed
    assert [change.metric for change in found.changes] == ["score"]
    assert len(found.questions) == N


def test_the_level_is_shared_among_the_metrics_that_have_pairs() -> None:
    found = compare(run([{"score": 1.0, "checks": 1.0, "ndcg@10": 1.0}]), run([{"score": 1.0, "checks": 1.0}]), 0)
    assert found.level == pytest.approx(0.975)
    assert compare(run([{}]), run([{}]), 0).level == 0.95


def test_the_result_hangs_on_the_seed_and_not_on_the_other_metrics() -> None:
    chance = np.random.default_rng(3)
    pairs = [
        ({"score": float(a), "checks": float(b)}, {"score": float(c), "checks": float(b)})
        for a, b, c in chance.random((N, 3))
    ]
    before, after = zip(*pairs, strict=True)
    first = compare(run(before), run(after), 5)
    assert compare(run(before), run(after), 5) == first
    turned = compare(run([dict(reversed(v.items())) for v in before]), run(after), 5)
    assert turned.changes == first.changes


def failing(values: dict[str, float], broken: Sequence[int]) -> Evaluation:
    return evaluation(
        [
            Outcome(question_id=f"q{n}", error="the writer timed out")
            if n in broken
            else Outcome(question_id=f"q{n}", values=values)
            for n in range(N)
        ]
    )


def test_an_error_counts_as_the_worst_value_in_either_run() -> None:
    sound, broken = failing({"score": 0.0}, []), failing({"score": 0.0}, range(12))
    assert compare(sound, broken, 0).vetoed
    change = compare(sound, broken, 0).changes[0]
    assert change.after == pytest.approx(-12 / N)
    assert compare(broken, sound, 0).changes[0].better
    assert not compare(failing({"score": 1.0}, range(12)), failing({"score": 1.0}, range(12, 24)), 0).vetoed
    assert compare(broken, broken, 0).changes[0].difference.n == N - 12


def test_all_failed_in_both_runs_is_nothing_to_judge() -> None:
    found = compare(failing({}, range(N)), failing({}, range(N)), 0)
    assert (found.paired, found.changes, found.vetoed) == (N, [], False)


def test_questions_are_paired_by_id_and_text_and_only_as_the_system_stands() -> None:
    outcomes = [Outcome(question_id=name, values={"score": 1.0}) for name in ("a", "b", "c")]
    before = evaluation(outcomes, id="b", questions=[question("a"), question("b"), question("c")])
    after = evaluation(
        [*outcomes[:2], Outcome(question_id="c", variant="vectors", values={"score": -1.0})],
        id="a",
        questions=[question("a"), question("b", text="Something else?"), question("c")],
    )
    found = compare(before, after, 0)
    assert (found.before_id, found.after_id) == ("b", "a")
    assert (found.paired, found.only_before, found.only_after) == (1, 2, 1)


def test_changed_questions_come_worst_first_with_what_was_said() -> None:
    def said(scores: Sequence[float], status: str) -> Evaluation:
        return evaluation(
            [
                Outcome(question_id=f"q{n}", values={"score": one, "mrr": 1.0 - one}, status=status, text="Hm.")
                for n, one in enumerate(scores)
            ]
        )

    found = compare(said([1.0, 0.0, 1.0, 0.5], "answered"), said([1.0, 1.0, -1.0, 0.25], "abstained"), 0)
    assert [(one.question_id, one.better) for one in found.questions] == [("q2", False), ("q3", False), ("q1", True)]
    worst = found.questions[0]
    assert worst.metrics == {"score": (1.0, -1.0), "mrr": (0.0, 2.0)}
    assert (worst.before, worst.after) == ("Hm.", "(abstained) Hm.")
    broken = compare(said([1.0], "answered"), evaluation([Outcome(question_id="q0", error="503")]), 0)
    assert broken.questions[0].after == "(error) 503"


def test_what_was_compared_whole_or_by_half_can_be_judged() -> None:
    assert unjudged(compare(run(perfect()), run(perfect()), 0)) is None
    assert unjudged(compare(run(perfect(80)), run(perfect(40)), 0)) is None
    assert unjudged(compare(run(perfect(40)), run(perfect(80)), 0)) is None, "more questions than before are no fault"


def test_nothing_and_too_little_in_common_cannot() -> None:
    others = evaluation([Outcome(question_id="x", values={"score": 1.0})])
    assert "no question in common" in (unjudged(compare(run(perfect()), others, 0)) or "")
    found, passages = run([{"score": 1.0}] * N), run([{"ndcg@10": 1.0}] * N)
    assert "no metric in common" in (unjudged(compare(found, passages, 0)) or "")
    assert "only 39 of the 80 questions" in (unjudged(compare(run(perfect(80)), run(perfect(39)), 0)) or "")
