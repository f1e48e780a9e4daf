"""Passages become gold items; the metrics are those that a hand counts."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.golden import Behaviour
from services.shared.evaluation.rankings import (
    Found,
    Gold,
    gate_right,
    gate_values,
    locate,
    ranked_items,
    retrieval_values,
    retrieval_values_of,
)

WORDS = st.lists(st.text(st.characters(blacklist_categories=("Cs", "Zs", "Cc", "Zl", "Zp")), min_size=1), min_size=1)


def test_a_quote_is_found_over_any_white_space() -> None:
    assert locate("He  led\n\tthe (small) team.", "led the (small) team") == (4, 25)
    assert locate("He led", "she led") is None
    assert locate("He led", "  \n") is None
    assert locate("a.c abc", "abc") == (4, 7)


@given(WORDS, st.text(alphabet=" \n\t", min_size=1, max_size=3), st.text(max_size=20))
def test_what_is_located_is_the_quote(words: list[str], gap: str, before: str) -> None:
    place = locate(before + "\n" + gap.join(words), " ".join(words))
    assert place is not None
    assert (before + "\n" + gap.join(words))[slice(*place)].split() == words


def test_half_of_a_gold_stretch_is_enough_and_less_is_not() -> None:
    gold = [Gold("a", 100, 200)]
    assert ranked_items([Found("a", 0, 150)], gold) == ["gold:0"]
    assert ranked_items([Found("a", 0, 149)], gold) == ["other:0"]
    assert ranked_items([Found("b", 100, 200)], gold) == ["other:0"]
    assert ranked_items([Found("a", 200, 300)], gold) == ["other:0"]


def test_a_gold_cut_by_the_chunks_is_found_with_the_passage_that_completes_half() -> None:
    thirds = [Found("a", 0, 100), Found("b", 0, 9), Found("a", 100, 200), Found("a", 200, 300)]
    assert ranked_items(thirds, [Gold("a", 0, 300)]) == ["other:0", "other:1", "gold:0", "other:2"]
    same_third_twice = [Found("a", 0, 100), Found("a", 0, 100)]
    assert ranked_items(same_third_twice, [Gold("a", 0, 300)]) == ["other:0", "other:1"]


def test_a_gold_counts_once() -> None:
    overlapping = [Found("a", 0, 60), Found("a", 10, 70)]
    assert ranked_items(overlapping, [Gold("a", 20, 50)]) == ["gold:0", "other:0"]


def test_a_passage_with_several_golds_is_several_items_the_highest_grade_first() -> None:
    golds = [Gold("a", 0, 10, 1), Gold("a", 20, 30, 3), Gold("a", 40, 50, 1)]
    items = ranked_items([Found("a", 0, 100)], golds)
    assert items == ["gold:1", "gold:0", "gold:2"]
    assert retrieval_values(items, golds)["ndcg@10"] == pytest.approx(1.0)


def test_whole_documents_fold_the_ranking_to_documents() -> None:
    found = [
        Found("b", 0, 5),
        Found("b", 5, 9),
        Found("a", 50, 60),
        Found("a", 0, 50),
        Found("b", 0, 9),
        Found("c", 0, 1),
    ]
    assert ranked_items(found, [Gold("a", None, None)]) == ["other:0", "gold:0", "other:1"]


def test_beside_a_whole_document_a_stretch_is_still_looked_for_passage_by_passage() -> None:
    golds = [Gold("a", None, None), Gold("b", 10, 20)]
    found = [Found("b", 0, 9), Found("b", 30, 40), Found("a", 0, 9), Found("a", 9, 20), Found("b", 9, 25)]
    assert ranked_items(found, golds) == ["other:0", "other:1", "gold:0", "gold:1"]


def test_one_of_the_golds_that_say_the_same_is_enough() -> None:
    golds = [Gold("a", 0, 10, group="x"), Gold("b", 0, 10, 3, group="x"), Gold("c", 0, 10)]
    assert ranked_items([Found("b", 0, 50), Found("a", 0, 50), Found("c", 0, 50)], golds) == [
        "gold:0",
        "other:0",
        "gold:2",
    ]
    first = retrieval_values(["gold:0", "gold:2"], golds)
    assert (first["recall@5"], first["ndcg@10"]) == (1.0, 1.0), "the grade is the highest of the group"
    assert retrieval_values(["gold:2"], golds)["recall@5"] == 0.5


@pytest.mark.parametrize("grades", [(1, 3), (3, 1)])
def test_of_one_gold_with_two_grades_the_highest_counts(grades: tuple[int, int]) -> None:
    golds = [Gold("a", 0, 10, grade) for grade in grades] + [Gold("b", 0, 10, 2)]
    values = retrieval_values(["gold:0", "gold:2"], golds)
    assert values["ndcg@10"] == 1.0
    assert retrieval_values(["gold:2", "gold:0"], golds)["ndcg@10"] < 1.0


def test_a_gold_named_twice_is_one_with_its_highest_grade() -> None:
    golds = [Gold("a", None, None, 1), Gold("a", None, None, 2), Gold("b", None, None, 1)]
    items = ranked_items([Found("b", 0, 1), Found("a", 0, 1)], golds)
    assert items == ["gold:2", "gold:0"]
    values = retrieval_values(items, golds)
    assert values["recall@5"] == 1.0
    assert values["ndcg@10"] == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))


def test_quotes_that_are_nowhere_are_missed_each_for_itself() -> None:
    golds = [Gold("a", 0, 10), Gold("a", -1, -1), Gold("a", -1, -1)]
    items = ranked_items([Found("a", 0, 100)], golds)
    assert items == ["gold:0"]
    assert retrieval_values(items, golds)["recall@10"] == pytest.approx(1 / 3)


def test_the_metrics_are_those_counted_by_hand() -> None:
    golds = [Gold("a", 0, 1, 3), Gold("b", 0, 1, 1), Gold("c", 0, 1, 2)]
    items = ["other:0", "gold:1", "gold:0", "other:1", "other:2", "gold:2"]
    ideal = 3 + 2 / log2(3) + 1 / log2(4)
    values = retrieval_values(items, golds)
    assert values == {
        "ndcg@10": pytest.approx((1 / log2(3) + 3 / log2(4) + 2 / log2(7)) / ideal),
        "recall@5": pytest.approx(2 / 3),
        "recall@10": 1.0,
        "recall@100": 1.0,
        "mrr": 0.5,
    }


def test_the_given_order_is_kept_whatever_the_items_are_called() -> None:
    others = [f"other:{n}" for n in range(120)]
    golds = [Gold("a", 0, 1)]
    for place in (0, 4, 5, 9, 10, 99, 100):
        values = retrieval_values([*others[:place], "gold:0", *others[place:]], golds)
        assert values["mrr"] == pytest.approx(1 / (place + 1))
        assert values["recall@5"] == (place < 5)
        assert values["recall@10"] == (place < 10)
        assert values["recall@100"] == (place < 100)
        assert values["ndcg@10"] == pytest.approx(1 / log2(place + 2) if place < 10 else 0.0)


def test_nothing_found_is_zero_and_no_gold_is_nothing() -> None:
    golds = {"found nothing": [Gold("a", 0, 1)], "not asked": [Gold("a", 0, 1)], "no golds": []}
    values = retrieval_values_of({"found nothing": [], "no golds": ["other:0"]}, golds)
    zero = {"ndcg@10": 0.0, "recall@5": 0.0, "recall@10": 0.0, "recall@100": 0.0, "mrr": 0.0}
    assert values == {"found nothing": zero, "not asked": zero, "no golds": {}}
    assert retrieval_values_of({}, {}) == {}


def test_a_metric_deeper_than_what_was_asked_for_has_no_sense() -> None:
    assert retrieval_values(["gold:0"], [Gold("a", 0, 1)], depth=5).keys() == {"recall@5", "mrr"}
    assert "recall@100" not in retrieval_values(["gold:0"], [Gold("a", 0, 1)], depth=99)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60), st.integers(1, 30)), max_size=12),
    st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 60), st.integers(1, 30), st.integers(1, 3)),
        min_size=1,
        max_size=6,
    ),
)
def test_items_are_distinct_and_the_metrics_keep_to_their_bounds(
    passages: list[tuple[str, int, int]], wanted: list[tuple[str, int | None, int, int]]
) -> None:
    golds = [Gold(name, start, None if start is None else start + long, grade) for name, start, long, grade in wanted]
    items = ranked_items([Found(name, start, start + long) for name, start, long in passages], golds)
    assert len(items) == len(set(items))
    values = retrieval_values(items, golds)
    assert all(0 <= value <= 1 + 1e-9 for value in values.values())
    assert values["recall@5"] <= values["recall@10"] <= values["recall@100"]
    assert (values["mrr"] > 0) == any(item.startswith("gold") for item in items)


@pytest.mark.parametrize(
    ("behaviour", "gate", "right"),
    [
        (Behaviour.ANSWER, "good", 1.0),
        (Behaviour.ANSWER, "fallback", 1.0),
        (Behaviour.ANSWER, "poor", 0.0),
        (Behaviour.ABSTAIN, "poor", 1.0),
        (Behaviour.ABSTAIN, "good", 0.0),
        (Behaviour.DECLINE, "poor", None),
        (Behaviour.ANSWER, None, None),
    ],
)
def test_the_gate_lets_through_what_can_be_answered(
    behaviour: Behaviour, gate: str | None, right: float | None
) -> None:
    assert gate_right(behaviour, gate) == right


def test_what_the_gate_lets_through_and_what_it_stops_are_told_apart() -> None:
    assert gate_values(Behaviour.ANSWER, "good") == {"gate_right": 1.0, "gate_passes": 1.0}
    assert gate_values(Behaviour.ABSTAIN, "good") == {"gate_right": 0.0, "gate_stops": 0.0}
    assert gate_values(Behaviour.DECLINE, "good") == {}
