"""Feedback: one open verdict an answer, an owner's decision once, and no word of a deleted document."""

import pytest
from sqlalchemy import Connection

from services.shared.catalog import documents, feedback, golden
from services.shared.catalog.engine import Catalog
from services.shared.catalog.feedback import JudgedAnswer
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Feedback, FeedbackState, GoldenIn, GoldenOrigin, Question, Verdict
from services.shared.contracts.ids import DocumentId, SpaceId
from tests.contract.catalog.building import NOW, OTHER, SPACE, at_once, ingest, later

FROM = GoldenOrigin.FEEDBACK
GOOD, BAD = Verdict.GOOD, Verdict.BAD
OPEN, CORRECTED, DISMISSED = FeedbackState.OPEN, FeedbackState.CORRECTED, FeedbackState.DISMISSED


def judge(
    tx: Connection,
    id: str = "f",
    verdict: Verdict = BAD,
    *,
    answer: str = "a",
    comment: str | None = None,
    cites: tuple[str, ...] = (),
    space: SpaceId = SPACE,
    seconds: float = 0,
) -> Feedback:
    judged = JudgedAnswer(answer, "When? 😀", "At nine. [1]", "answered", [DocumentId(one) for one in cites])
    return feedback.add(tx, space, judged, id=id, verdict=verdict, comment=comment, now=later(seconds))


def refusal(tx: Connection, id: str, space: SpaceId = SPACE) -> ErrorCode:
    with pytest.raises(RagstoneError) as refused:
        feedback.take(tx, space, id)
    return refused.value.code


def test_a_verdict_is_kept_with_its_answer(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        said = judge(tx, comment="It is ten.", cites=("doc", "doc"))
    with catalog.read() as tx:
        assert feedback.get(tx, SPACE, "f") == said
    assert said == Feedback(
        id="f",
        answer_id="a",
        question="When? 😀",
        answer_text="At nine. [1]",
        answer_status="answered",
        verdict=BAD,
        comment="It is ten.",
        state=OPEN,
        golden_id=None,
        created_at=NOW,
    )


def test_while_nobody_looked_the_newest_verdict_stands_alone(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = judge(tx, "f1")
        assert judge(tx, "f2", seconds=1) == first
        changed = judge(tx, "f3", GOOD, comment="After all.", seconds=2)
        assert (changed.id, changed.verdict, changed.comment) == ("f1", GOOD, "After all.")
        assert len(feedback.page(tx, SPACE, states=None, verdict=None, limit=9, cursor=None).items) == 1


def test_a_verdict_that_was_dealt_with_stays_and_another_one_is_new(catalog: Catalog) -> None:
    with catalog.write() as tx:
        judge(tx, "f1")
        feedback.dismissed(tx, SPACE, "f1")
        assert (judge(tx, "f2", seconds=1).id, judge(tx, "f2", seconds=1).state) == ("f1", DISMISSED)
        assert judge(tx, "f3", GOOD, seconds=2).id == "f3"
        assert [one.state for one in (feedback.get(tx, SPACE, id) for id in ("f1", "f3")) if one] == [DISMISSED, OPEN]


def test_two_who_judge_at_once_make_one_verdict(catalog: Catalog) -> None:
    def say(id: str, verdict: Verdict) -> str:
        with catalog.write() as tx:
            return judge(tx, id, verdict).id

    ids = at_once([lambda: say("f1", GOOD), lambda: say("f2", BAD), lambda: say("f3", GOOD)])
    assert len(set(ids)) == 1


def test_a_correction_is_made_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        judge(tx)
        feedback.dismissed(tx, SPACE, "f")
        done = feedback.corrected(tx, SPACE, "f", "golden-1")
        assert (done.state, done.golden_id) == (CORRECTED, "golden-1")
        assert refusal(tx, "f") is ErrorCode.FEEDBACK_STATE_CONFLICT
        with pytest.raises(RagstoneError) as refused:
            feedback.dismissed(tx, SPACE, "f")
        assert "golden-1" in refused.value.detail


def test_feedback_whose_golden_question_is_removed_is_open_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for space in (SPACE, OTHER):
            judge(tx, space=space)
            golden.put(tx, space, [GoldenIn(question=Question(id="feedback-f", text="When?"))], FROM, NOW)
            feedback.corrected(tx, space, "f", "feedback-f")
        golden.remove(tx, SPACE, "another")
        assert refusal(tx, "f") is ErrorCode.FEEDBACK_STATE_CONFLICT
        assert golden.remove(tx, SPACE, "feedback-f")
        again = feedback.take(tx, SPACE, "f")
        assert (again.state, again.golden_id) == (OPEN, None)
        assert feedback.corrected(tx, SPACE, "f", "feedback-f").state is CORRECTED
        assert refusal(tx, "f", OTHER) is ErrorCode.FEEDBACK_STATE_CONFLICT


def test_dismissing_again_is_no_error(catalog: Catalog) -> None:
    with catalog.write() as tx:
        judge(tx)
        assert feedback.dismissed(tx, SPACE, "f") == feedback.dismissed(tx, SPACE, "f")


def test_owners_that_correct_at_once_do_so_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        judge(tx)

    def correct(golden_id: str) -> str:
        try:
            with catalog.write() as tx:
                feedback.take(tx, SPACE, "f")
                return str(feedback.corrected(tx, SPACE, "f", golden_id).golden_id)
        except RagstoneError as error:
            return error.code.value

    ended = sorted(at_once([lambda: correct("g1"), lambda: correct("g2")]))
    assert ended[0] == "feedback_state_conflict"
    assert ended[1] in ("g1", "g2")


def test_spaces_keep_their_feedback_apart(catalog: Catalog) -> None:
    with catalog.write() as tx:
        judge(tx)
        assert feedback.get(tx, OTHER, "f") is None
        assert refusal(tx, "f", OTHER) is ErrorCode.FEEDBACK_NOT_FOUND
        judge(tx, "f", GOOD, space=OTHER)
        feedback.dismissed(tx, OTHER, "f")
        mine = feedback.get(tx, SPACE, "f")
    assert mine is not None
    assert (mine.state, mine.verdict) == (OPEN, BAD)


def texts(tx: Connection) -> dict[str, str]:
    page = feedback.page(tx, SPACE, states=None, verdict=None, limit=50, cursor=None)
    return {one.id: one.answer_text for one in page.items}


def test_a_deletion_takes_the_answers_out_that_cite_the_document(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for document in ("one", "two"):
            ingest(tx, document)
            ingest(tx, document, space=OTHER)
        judge(tx, "f1", answer="a1", cites=("one", "two"))
        judge(tx, "f2", answer="a2", cites=("two",))
        judge(tx, "f3", answer="a3")
        documents.remove(tx, OTHER, DocumentId("two"), NOW)
        assert set(texts(tx).values()) == {"At nine. [1]"}
        documents.remove(tx, SPACE, DocumentId("one"), NOW)
        after = texts(tx)
    assert (after["f2"], after["f3"]) == ("At nine. [1]", "At nine. [1]")
    assert "nine" not in after["f1"]
    assert "'one'" in after["f1"]


def test_a_replaced_document_leaves_the_answers_as_they_were(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        judge(tx, cites=("doc",))
        ingest(tx, content="two")
        assert texts(tx) == {"f": "At nine. [1]"}


def test_an_answer_that_was_remembered_across_a_deletion_is_not_copied(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        documents.remove(tx, SPACE, DocumentId("doc"), NOW)
        said = judge(tx, cites=("doc",))
        assert "nine" not in said.answer_text
        assert texts(tx) == {"f": said.answer_text}


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_are_newest_first_and_filtered(catalog: Catalog, limit: int) -> None:
    with catalog.write() as tx:
        for n in range(5):
            judge(tx, f"f{n}", (GOOD, BAD)[n % 2], answer=f"a{n}", seconds=n // 2)
        feedback.dismissed(tx, SPACE, "f0")
    seen: list[str] = []
    with catalog.read() as tx:
        cursor: str | None = None
        while True:
            page = feedback.page(tx, SPACE, states=[OPEN], verdict=None, limit=limit, cursor=cursor)
            seen += [one.id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        bad = feedback.page(tx, SPACE, states=None, verdict=BAD, limit=9, cursor=None)
        with pytest.raises(RagstoneError):
            feedback.page(tx, SPACE, states=None, verdict=None, limit=9, cursor="nonsense")
    assert seen == ["f4", "f3", "f2", "f1"]
    assert [one.id for one in bad.items] == ["f3", "f1"]
