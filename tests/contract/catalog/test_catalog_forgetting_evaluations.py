"""Evaluations keep their figures and lose the words of a deleted document, whenever it is deleted."""

from typing import Any

from services.shared.catalog import evaluations
from services.shared.catalog.engine import Catalog
from services.shared.catalog.redaction import TAKEN_OUT
from services.shared.contracts.evaluation import Comparison, Evaluation, Outcome, QuestionChange, Review
from services.shared.contracts.golden import GoldSpan, Question
from tests.contract.catalog.building import SPACE, ingest
from tests.contract.catalog.forgotten import CANARY, DOC, everything, remove
from tests.contract.catalog.test_catalog_evaluations import finish, order, outcome, whole


def quoting(id: str, **told: Any) -> Outcome:
    review = Review(reviewer="accuracy", by="rule", passed=False, score=0.0, notes=[f"misses {CANARY}"])
    return outcome(id, **{"text": f"It is {CANARY} [1].", "reviews": [review], **told})


def evaluation(id: str, comparison: Comparison | None = None) -> Evaluation:
    questions = [
        Question(id="made", text=CANARY, expected=CANARY, gold=[GoldSpan(document_id=DOC, quote=CANARY)]),
        Question(id="cited", text="Which?"),
        Question(id="topics", text="Where?"),
        Question(id="other", text="Why?"),
    ]
    outcomes = [
        quoting("made", citations=[f"{DOC}: {CANARY}"]),
        quoting("cited", ranking=[f"{DOC} > {CANARY}", "other > Part"], citations=["other: words"]),
        quoting("topics", text=f"I do not know.\n\nClosest:\n- {CANARY}", status="abstained"),
        outcome("other", text="Because [1].", citations=["other: words"]),
    ]
    return whole(id).model_copy(update={"questions": questions, "outcomes": outcomes, "comparison": comparison})


def compared(before: str, after: str) -> Comparison:
    def change(id: str, text: str) -> QuestionChange:
        return QuestionChange(question_id=id, text=text, better=True, metrics={}, before=CANARY, after=CANARY)

    return Comparison(
        before_id=before, after_id=after, paired=3, only_before=0, only_after=0, changes=[],
        questions=[change("made", CANARY), change("cited", "Which?")], vetoed=False, level=0.99,
    )  # fmt: skip


def test_evaluations_keep_their_figures_and_lose_its_words(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, title=CANARY)
        for one in (evaluation("e1"), evaluation("e2", compared("e1", "e2"))):
            order(tx, one.id, questions=one.questions)
            evaluations.add_outcomes(tx, one.id, one.outcomes)
            assert evaluations.finish(tx, one.id, one, f"# {CANARY}", f"<b>{CANARY}</b>") is None
        order(tx, "plain")
        finish(tx, "plain")
    removed = remove(catalog)
    assert sorted(removed.reports) == ["e1", "e2"]
    assert CANARY not in everything(catalog)
    with catalog.read() as tx:
        left = evaluations.get(tx, SPACE, "e2")
        stored = {one.question_id: one for one in evaluations.outcomes(tx, "e2")}
        assert evaluations.report(tx, SPACE, "plain", "markdown") == "# plain"
    assert left is not None
    assert {one.question_id: one for one in left.outcomes} == stored
    assert stored["other"].text == "Because [1]."
    assert (stored["cited"].text, stored["cited"].values) == (TAKEN_OUT, {"mrr": 0.5})
    assert stored["cited"].ranking == [DOC, "other > Part"]
    assert [question.text for question in left.questions] == [TAKEN_OUT, "Which?", "Where?", "Why?"]
    assert left.comparison is not None
    assert [(one.text, one.before) for one in left.comparison.questions] == [
        (TAKEN_OUT, TAKEN_OUT),
        ("Which?", TAKEN_OUT),
    ]


def test_an_answer_of_the_run_before_is_taken_out_of_the_comparison(catalog: Catalog) -> None:
    """The later run does not name the document any more: a better passage answered."""
    both = compared("e1", "e2")
    later_run = whole("e2").model_copy(
        update={"comparison": both.model_copy(update={"questions": [both.questions[1]]})}
    )
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, title=CANARY)
        for one in (evaluation("e1"), later_run):
            order(tx, one.id, questions=one.questions)
            evaluations.finish(tx, one.id, one, "", "")
    assert sorted(remove(catalog).reports) == ["e1", "e2"]
    assert CANARY not in everything(catalog)


def test_an_evaluation_under_way_goes_on_without_the_questions_made_of_it(catalog: Catalog) -> None:
    one = evaluation("e")
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
        order(tx, "e", questions=one.questions)
        evaluations.add_outcomes(tx, "e", one.outcomes[:2])
    remove(catalog)
    with catalog.write() as tx:
        assert [question.id for question in evaluations.load(tx, "e").questions] == ["cited", "topics", "other"]
        assert [stored.question_id for stored in evaluations.outcomes(tx, "e")] == ["cited"]
        # Its worker asked these before the deletion, and says so after it.
        evaluations.add_outcomes(tx, "e", [one.outcomes[0], quoting("other", citations=[f"{DOC}: {CANARY}"])])
        assert [stored.question_id for stored in evaluations.outcomes(tx, "e")] == ["cited", "other"]
    assert CANARY not in everything(catalog)


def test_a_worker_that_finishes_after_the_deletion_is_given_back_what_may_be_kept(catalog: Catalog) -> None:
    one = evaluation("e").model_copy(update={"outcomes": evaluation("e").outcomes[:2]})
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
        order(tx, "e", questions=one.questions)
    remove(catalog)
    with catalog.write() as tx:
        left = evaluations.finish(tx, "e", one, CANARY, CANARY)
        assert left is not None
        assert CANARY not in left.model_dump_json()
        assert evaluations.get(tx, SPACE, "e") is None
        assert evaluations.finish(tx, "e", left, "#", "<b>") is None
        assert evaluations.get(tx, SPACE, "e") == left
    assert CANARY not in everything(catalog)


def test_reports_are_kept_only_of_what_is_still_so(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx, "e")
        done = finish(tx, "e")
        assert evaluations.store_reports(tx, done, "# new", "<b>new")
        assert not evaluations.store_reports(tx, done.model_copy(update={"name": "x"}), "# old", "<b>old")
        assert evaluations.report(tx, SPACE, "e", "markdown") == "# new"
