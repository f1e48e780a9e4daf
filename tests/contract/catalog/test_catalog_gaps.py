"""Gaps in the catalog: wordings and counts, what owners make of them, room, age, and deletions."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from services.shared.catalog import documents, gap_rows, gaps, jobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.gap_rows import Unanswered
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.gaps import Gap, GapState
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, at_once, ingest, later

OPEN, ANSWERED, DISMISSED = GapState.OPEN, GapState.ANSWERED, GapState.DISMISSED
FACT = DocumentId("facts/g1")


def ask(
    tx: Connection,
    question: str = "Why?",
    gap: str | None = None,
    *,
    id: str = "g1",
    bad: bool = False,
    nearest: tuple[str, ...] = (),
    seq: int = 99,
    seconds: float = 0,
    space: SpaceId = SPACE,
) -> str | None:
    found = [(DocumentId(one), f"Title of {one}") for one in nearest]
    noted = Unanswered(question, f"key of {question}", found, seq, bad)
    return gaps.note(tx, space, noted, gap, new_id=id, now=later(seconds))


def listed(tx: Connection, space: SpaceId = SPACE, states: list[GapState] | None = None) -> list[Gap]:
    return gaps.page(tx, space, states=states, limit=50, cursor=None).items


def fact(tx: Connection, state: JobState = JobState.QUEUED, id: str = "g1") -> Gap:
    job = jobs.create(
        tx,
        id=JobId(f"job-{state}"),
        space=SPACE,
        kind=JobKind.DOCUMENT,
        queue=Queue.INGEST,
        document_id=FACT,
        revision=1,
        payload={},
        request_id="r",
        now=NOW,
        state=state,
    )
    return gaps.answered(tx, SPACE, id, FACT, job.id)


def test_a_question_is_kept_with_its_wordings_and_counts(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        assert ask(tx, "Why? 😀", nearest=("doc",)) == "g1"
        assert ask(tx, "For what?", "g1", seconds=1, nearest=("doc",)) == "g1"
        assert ask(tx, "For what?", seconds=2, nearest=("doc", "none")) == "g1"
        assert ask(tx, "For what?", "gone", id="g2", bad=True, seconds=3) == "g1"
    with catalog.read() as tx:
        assert gaps.known(tx, SPACE, "key of For what?") == "g1"
        assert [(one.id, one.question) for one in gaps.heads(tx, SPACE)] == [("g1", "For what?")]
        assert listed(tx) == [
            Gap(
                id="g1",
                question="For what?",
                others=["Why? 😀"],
                asked=3,
                judged_bad=1,
                state=OPEN,
                nearest=["Title of doc"],
                document_id=None,
                first_at=NOW,
                last_at=later(3),
            )
        ]


def test_a_question_in_a_space_without_anything_makes_no_space(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert ask(tx) is None
        assert listed(tx) == []


def test_spaces_keep_their_gaps_apart(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for space in (SPACE, OTHER):
            ingest(tx, space=space)
        ask(tx)
        assert gaps.known(tx, OTHER, "key of Why?") is None
        with pytest.raises(RagstoneError) as unknown:
            gaps.get(tx, OTHER, "g1")
        assert unknown.value.code is ErrorCode.GAP_NOT_FOUND
        assert ask(tx, gap="g1", id="g2", space=OTHER) == "g2"
        assert [one.id for one in listed(tx)] == ["g1"]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_are_by_weight_then_time(catalog: Catalog, limit: int) -> None:
    with catalog.write() as tx:
        ingest(tx)
        for n in range(5):
            ask(tx, f"q{n}", id=f"g{n}", seconds=n)
        ask(tx, "q1", bad=True, seconds=9)
        ask(tx, "q3", seconds=9)
        gaps.dismissed(tx, SPACE, "g0")
    seen: list[str] = []
    cursor: str | None = None
    with catalog.read() as tx:
        while True:
            page = gaps.page(tx, SPACE, states=[OPEN], limit=limit, cursor=cursor)
            seen += [one.id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert page.counts == {OPEN: 4, ANSWERED: 0, DISMISSED: 1}
        with pytest.raises(RagstoneError):
            gaps.page(tx, SPACE, states=None, limit=9, cursor="nonsense")
    assert seen == ["g1", "g3", "g4", "g2"]


def test_what_was_dismissed_stays_so_however_often_it_is_asked(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ask(tx)
        assert gaps.dismissed(tx, SPACE, "g1").state is DISMISSED
        assert gaps.dismissed(tx, SPACE, "g1").state is DISMISSED
        ask(tx)
        (gap,) = listed(tx)
        assert (gap.state, gap.asked) == (DISMISSED, 2)
        assert gaps.reopened(tx, SPACE, "g1").state is OPEN


def test_a_fact_answers_until_the_question_is_asked_in_vain_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ask(tx)
        gap = fact(tx, JobState.SUCCEEDED)
        assert (gap.state, gap.document_id) == (ANSWERED, FACT)
        ingest(tx, FACT, "the fact")
        ask(tx, seq=1)
        assert gaps.get(tx, SPACE, "g1").state is ANSWERED, "the answer had not seen the fact"
        ask(tx, seq=2)
        assert gaps.get(tx, SPACE, "g1").state is OPEN
        fact(tx)
        with pytest.raises(RagstoneError) as refused:
            gaps.dismissed(tx, SPACE, "g1")
        assert refused.value.code is ErrorCode.GAP_STATE_CONFLICT


@pytest.mark.parametrize(
    ("state", "then"),
    [
        (JobState.QUEUED, ANSWERED),
        (JobState.RUNNING, ANSWERED),
        (JobState.FAILED, OPEN),
        (JobState.CANCELLED, OPEN),
    ],
)
def test_a_fact_on_its_way_is_waited_for_and_one_that_failed_is_not(
    catalog: Catalog, state: JobState, then: GapState
) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ask(tx)
        fact(tx, state)
        ask(tx, seq=99)
        assert gaps.get(tx, SPACE, "g1").state is then


def test_a_deleted_fact_opens_its_gap_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ingest(tx, FACT, "the fact")
        ask(tx)
        fact(tx)
        ask(tx, "Else?", id="g2")
        gaps.dismissed(tx, SPACE, "g2")
        documents.remove(tx, SPACE, FACT, NOW)
        gap = gaps.get(tx, SPACE, "g1")
        assert (gap.state, gap.document_id) == (OPEN, None)
        assert gaps.get(tx, SPACE, "g2").state is DISMISSED


def test_a_deletion_takes_the_titles_out_and_leaves_the_questions(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("a", 'b"ü', "c"):
            ingest(tx, id)
            ingest(tx, id, space=OTHER)
        ask(tx, nearest=("a", 'b"ü'))
        ask(tx, id="g1", nearest=("a", 'b"ü'), space=OTHER)
        documents.remove(tx, SPACE, DocumentId('b"ü'), NOW)
        documents.remove(tx, SPACE, DocumentId("c"), NOW)
        (gap,) = listed(tx)
        assert (gap.question, gap.nearest) == ("Why?", ["Title of a"])
        assert listed(tx, OTHER)[0].nearest == ["Title of a", 'Title of b"ü']
        # Found before the deletion, noted after it.
        ask(tx, nearest=("c", "a"))
        assert listed(tx)[0].nearest == ["Title of a"]


def test_many_wordings_of_one_gap_are_counted_and_not_kept(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        for n in range(gap_rows.WORDINGS_A_GAP + 5):
            assert ask(tx, f"q{n}", None if n == 0 else "g1", seconds=n) == "g1"
        (gap,) = listed(tx)
        assert (gap.asked, gap.question) == (gap_rows.WORDINGS_A_GAP + 5, "q0")
        assert len(gap.others) == gap_rows.OTHERS_SHOWN
        assert gaps.known(tx, SPACE, f"key of q{gap_rows.WORDINGS_A_GAP}") is None


def test_the_weakest_make_room(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_rows, "WORDINGS_A_SPACE", 4)
    with catalog.write() as tx:
        ingest(tx)
        for n in range(4):
            ask(tx, f"q{n}", id=f"g{n}", seconds=n)
        ask(tx, "q0", seconds=5)
        ask(tx, "q0 too", "g0", seconds=6)
        ask(tx, "q9", id="g9", seconds=7)
        assert {one.id for one in listed(tx)} == {"g0", "g3", "g9"}


def test_what_nobody_asked_for_long_is_forgotten(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ask(tx, "old", seconds=0)
        ask(tx, "newer", "g1", seconds=60)
        ask(tx, "gone", id="g2", seconds=0)
        assert gaps.prune(tx, NOW) == 0
        assert gaps.prune(tx, later(30)) == 2
        (gap,) = listed(tx)
        assert (gap.id, gap.question, gap.others, gap.asked, gap.first_at) == ("g1", "newer", [], 1, later(60))
        assert gaps.prune(tx, NOW + timedelta(days=1)) == 1
        assert listed(tx) == []


def test_two_who_ask_at_once_make_one_gap(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)

    def one(id: str) -> str | None:
        with catalog.write() as tx:
            return ask(tx, id=id)

    assert len(set(at_once([lambda: one("a"), lambda: one("b"), lambda: one("c")]))) == 1
    with catalog.read() as tx:
        assert [gap.asked for gap in listed(tx)] == [3]
