"""What must not change the critic's features, and what must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.models.critic.answerability import NAMES, answerability
from services.shared.models.critic.features import FEATURES, compare, rows
from tests.unit.models_critic.cases import PASSAGES, SCORES, SIMILARITIES, candidates, question


def test_there_is_a_row_for_each_candidate_and_a_column_for_each_feature() -> None:
    found = rows(compare(question(), candidates()))
    assert found.shape == (len(PASSAGES), len(FEATURES))
    assert np.isfinite(found).all()
    assert rows(compare(question(), [])).shape == (0, len(FEATURES))


@given(st.permutations(range(len(PASSAGES))))
def test_the_order_of_the_candidates_does_not_matter(order: list[int]) -> None:
    ordered = candidates()
    shuffled = rows(compare(question(), [ordered[place] for place in order]))
    assert shuffled == pytest.approx(rows(compare(question(), ordered))[order])


@given(st.floats(0.01, 1000.0))
def test_the_unit_of_the_bm25_scores_does_not_matter(unit: float) -> None:
    scaled = [None if score is None else score * unit for score in SCORES]
    assert rows(compare(question(), candidates(scores=scaled))) == pytest.approx(
        rows(compare(question(), candidates()))
    )


@given(st.floats(0.05, 1.0), st.floats(-0.3, 0.8))
def test_the_range_of_an_embedders_similarities_does_not_matter(width: float, lowest: float) -> None:
    moved = [lowest + width * near for near in SIMILARITIES]
    expected = rows(compare(question(), candidates()))
    assert rows(compare(question(), candidates(similarities=moved))) == pytest.approx(expected, abs=1e-6)


def test_a_passage_that_the_vectors_did_not_find_counts_as_the_farthest_that_they_did() -> None:
    unknown = rows(compare(question(), candidates(similarities=[0.7, 0.6, None, 0.4, 0.1])))
    assert unknown == pytest.approx(rows(compare(question(), candidates(similarities=[0.7, 0.6, 0.1, 0.4, 0.1]))))


def test_without_any_vectors_every_candidate_stands_alike_in_them() -> None:
    found = rows(compare(question(), candidates(similarities=[None] * len(PASSAGES))))
    assert (found[:, FEATURES.index("similarity_standing")] == 0.0).all()
    assert (found[:, FEATURES.index("similarity_rank")] == 1.0).all()


def test_only_the_best_has_a_gap_above_zero() -> None:
    gaps = rows(compare(question(), candidates()))[:, FEATURES.index("share_gap")]
    assert gaps[0] > 0
    assert (gaps[1:] < 0).all()


def test_answerability_names_every_feature_and_nothing_else() -> None:
    features = answerability(compare(question(), candidates()), [0.9, 0.2, 0.1, 0.3, 0.0])
    assert set(features) == set(NAMES)
    assert all(np.isfinite(value) for value in features.values())
    assert answerability(compare(question(), []), []) == {}


def test_answerability_looks_at_the_passage_that_the_critic_likes_best() -> None:
    compared = compare(question(), candidates())
    liked = answerability(compared, [0.1, 0.8, 0.1, 0.1, 0.1])
    assert liked["missing_chosen"] == pytest.approx(compared.matches[1].missing)
    assert liked["saturated_chosen"] == pytest.approx(compared.matches[1].saturated)
    assert liked["saturated_chosen"] < compared.matches[0].saturated


def test_a_word_that_no_chunk_holds_is_told_from_one_that_only_others_hold() -> None:
    relevant = [0.9, 0.2, 0.1]
    features = answerability(compare(question("zebra 2019 fees"), candidates()[:3]), relevant)
    assert (features["unknown"], features["elsewhere"]) == pytest.approx((6.0 / 13.0, 0.0))
    features = answerability(compare(question("zebra 2019 fees"), candidates()[1:3]), relevant[:2])
    assert (features["unknown"], features["elsewhere"]) == pytest.approx((6.0 / 13.0, 5.0 / 13.0))


@given(st.floats(0.01, 1000.0))
def test_answerability_does_not_look_at_the_unit_of_the_scores(unit: float) -> None:
    scaled = [None if score is None else score * unit for score in SCORES]
    relevant = [0.9, 0.2, 0.1, 0.3, 0.0]
    told = answerability(compare(question(), candidates(scores=scaled)), relevant)
    assert told == pytest.approx(answerability(compare(question(), candidates()), relevant))
