"""What an answer is worth: the score's three values, and where a metric has no sense."""

import pytest

from services.shared.contracts.answers import AnswerReason, AnswerStatus
from services.shared.contracts.evaluation import Review
from services.shared.evaluation.names import METRICS
from services.shared.evaluation.rankings import Gold
from services.shared.evaluation.scoring import answer_values
from tests.unit.evaluation.making import ABSTAIN, DECLINE, answer, cited, claim, question, review

RIGHT, WRONG = review("accuracy", True), review("accuracy", False, score=0.5)
SILENT = answer(AnswerStatus.ABSTAINED, reason=AnswerReason.NOTHING_RELEVANT)


def test_right_silent_and_wrong() -> None:
    assert answer_values(question("q"), answer(), [RIGHT], [])["score"] == 1.0
    assert answer_values(question("q"), SILENT, [], []) == {"score": 0.0, "right": 0.0}
    wrong = answer_values(question("q"), answer(), [WRONG], [])
    assert (wrong["score"], wrong["right"], wrong["accuracy"]) == (-1.0, 0.0, 0.5)


@pytest.mark.parametrize("behaviour", [ABSTAIN, DECLINE])
def test_silence_is_right_where_nothing_should_be_said(behaviour: object) -> None:
    asked = question("q", behaviour=behaviour, facts=[])
    for status in (AnswerStatus.ABSTAINED, AnswerStatus.DECLINED):
        assert answer_values(asked, answer(status), [], []) == {"score": 1.0, "right": 1.0}
    assert answer_values(asked, answer(), [RIGHT], []) == {"score": -1.0, "right": 0.0}


def test_a_writer_that_is_away_is_never_right() -> None:
    away = answer(AnswerStatus.ABSTAINED, reason=AnswerReason.WRITER_UNAVAILABLE)
    assert answer_values(question("q", behaviour=ABSTAIN), away, [], [])["score"] == 0.0
    assert answer_values(question("q"), away, [], [])["score"] == 0.0


@pytest.mark.parametrize(("note", "score"), [("must_not: no", -1.0), ("quotes: [1]", -1.0), ("language: not de", 1.0)])
def test_a_forbidden_word_or_a_false_quote_makes_a_right_answer_wrong(note: str, score: float) -> None:
    checked = review("checks", False).model_copy(update={"notes": [note]})
    values = answer_values(question("q"), answer(), [RIGHT, checked], [])
    assert (values["score"], values["checks"]) == (score, 0.0)


def test_the_rule_decides_then_the_embedding_never_the_judge() -> None:
    judged = review("accuracy", True, by="judge")
    near = review("accuracy", True, by="embedding", score=0.83)

    def score(*reviews: Review) -> float | None:
        return answer_values(question("q"), answer(), reviews, []).get("score")

    assert score(judged, near, WRONG) == -1.0
    assert score(judged, near) == 1.0
    assert score(judged) is None
    assert "accuracy" not in answer_values(question("q"), answer(), [near], [])


def test_where_nothing_says_what_is_right_there_is_no_score() -> None:
    unknown = question("q", facts=[])
    for said in (answer(), SILENT):
        assert "score" not in answer_values(unknown, said, [], [])
    assert answer_values(question("q", facts=[], expected="Yes."), SILENT, [], [])["score"] == 0.0


def test_citations_against_stretches_and_documents() -> None:
    golds = [Gold("a", 0, 10), Gold("a", 50, 60), Gold("b", None, None), Gold("a", 0, 10)]
    citations = [cited("a", 5, 20), cited("a", 10, 50), cited("b", 3, 4), cited("c", 0, 10)]
    values = answer_values(question("q"), answer(citations=citations), [RIGHT], golds)
    assert values["citation_precision"] == 0.5
    assert values["citation_recall"] == pytest.approx(2 / 3)


def test_an_answer_without_citations_has_none_right() -> None:
    values = answer_values(question("q"), answer(), [RIGHT], [Gold("a", -1, -1)])
    assert (values["citation_precision"], values["citation_recall"]) == (0.0, 0.0)


def test_citations_have_sense_only_with_golds_and_an_answer() -> None:
    assert "citation_recall" not in answer_values(question("q"), answer(citations=[cited("a", 0, 1)]), [RIGHT], [])
    assert "citation_recall" not in answer_values(question("q"), SILENT, [], [Gold("a", 0, 1)])


def test_dropped_sentences_count_as_not_supported() -> None:
    kept = answer(claims=[claim(), claim()])
    assert answer_values(question("q"), kept, [RIGHT], [])["supported"] == 1.0
    dropped = answer(claims=[claim(), claim()], trace={"dropped": [{}, {}]})
    assert answer_values(question("q"), dropped, [RIGHT], [])["supported"] == 0.5
    assert "supported" not in answer_values(question("q"), answer(), [RIGHT], [])


def test_validity_is_of_answers_only_and_checks_of_all() -> None:
    reviews = [review("validity", True), review("checks", True)]
    assert answer_values(question("q"), SILENT, reviews, [])["checks"] == 1.0
    assert "validity" not in answer_values(question("q"), SILENT, reviews, [])
    assert answer_values(question("q"), answer(), [RIGHT, *reviews], [])["validity"] == 1.0


def test_every_value_is_in_the_table_and_in_its_bounds() -> None:
    said = answer(citations=[cited("a", 0, 5)], claims=[claim()])
    reviews = [WRONG, review("validity", False), review("checks", False)]
    for name, value in answer_values(question("q"), said, reviews, [Gold("a", 0, 5)]).items():
        assert METRICS[name].low <= value <= METRICS[name].high
