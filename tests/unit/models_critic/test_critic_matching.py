"""How a passage holds the words of a question."""

import pytest

from services.shared.models.critic.matching import WINDOWS, Question, match
from tests.unit.models_critic.cases import HIGHEST, IDF, question


def test_an_unknown_word_weighs_as_much_as_the_rarest_known_one() -> None:
    asked = question("zebra fees")
    assert asked.weights == {"zebra": HIGHEST, "fees": IDF["fees"]}
    assert asked.unknown == {"zebra"}


def test_numbers_and_capitalised_words_must_be_met_exactly() -> None:
    assert question("Which fees had the London office in 2019").exact == {"london", "2019"}


def test_share_counts_by_rarity_and_count_does_not() -> None:
    found = match(question("quarterly office"), ["office"])
    assert found.share == pytest.approx(1.0 / 4.0)
    assert found.count == pytest.approx(0.5)


def test_a_window_holds_only_what_stands_close_together() -> None:
    apart = ["quarterly", *["x"] * 30, "fees"]
    found = match(question("quarterly fees"), apart)
    by_length = dict(zip(WINDOWS, found.windows, strict=True))
    assert by_length[10] == pytest.approx(3.0 / 5.0)
    assert by_length[20] == pytest.approx(3.0 / 5.0)
    assert by_length[40] == pytest.approx(1.0)


def test_neighbours_in_the_order_of_the_question_are_nearer() -> None:
    asked = question("quarterly fees")
    assert match(asked, ["quarterly", "fees"]).nearness > match(asked, ["fees", "quarterly"]).nearness
    assert match(asked, ["quarterly", "fees"]).together == 1.0
    assert match(asked, ["quarterly", *["x"] * 9, "fees"]).together == 0.0


def test_the_rarest_word_that_is_missing_is_told_as_a_share_of_the_highest() -> None:
    assert match(question("quarterly fees london"), ["fees"]).missing == pytest.approx(4.0 / HIGHEST)


def test_an_empty_passage_and_a_question_without_words_are_no_error() -> None:
    assert match(question(), []).share == 0.0
    assert match(Question((), {}), ["fees"]).share == 0.0
