"""Questions that are answered later: their answers are kept for a while, and repeat no deleted document."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from services.shared.catalog import asked, changes, jobs, schema
from services.shared.catalog.asked import AskOrder, Ending
from services.shared.catalog.engine import Catalog
from services.shared.contracts.answers import AskRequest, Turn
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later, make_job
from tests.contract.catalog.forgotten import CANARY, DOC, SAID, everything, remove

WORDS = f"The {CANARY} sings at dawn"


def order(tx: Any, id: str, question: str = "What sings?", space: Any = SPACE, **more: Any) -> JobId:
    told = AskOrder(asked=AskRequest(question=question, **more), key_id="k1", client="k1", daily_tokens=5)
    ((row),) = asked.create(tx, space, [(JobId(id), told)], "request", NOW)
    assert (row.kind, row.queue, row.state, row.document_id) == (JobKind.ASK, Queue.ASK, JobState.QUEUED, None)
    return row.id


def take(tx: Any, id: JobId) -> jobs.JobRow:
    (row,) = jobs.claim(tx, owner="w", queue=Queue.ASK, lease_s=9, now=NOW, job_id=id, kind=JobKind.ASK)
    return row


def answer(tx: Any, id: JobId, *documents: str, text: str = WORDS) -> Ending:
    row = take(tx, id)
    since = changes.current_seq(tx, row.space_id)
    return asked.answered(tx, row, {"text": text}, [DocumentId(one) for one in documents], since, later(1))


def found(catalog: Catalog, id: str) -> jobs.JobRow:
    with catalog.read() as tx:
        row = jobs.find(tx, JobId(id))
    assert row is not None
    return row


def test_an_answered_question_keeps_its_answer_and_not_what_was_asked(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, **SAID)
        id = order(tx, "q", "Who is Rosalind?", history=[Turn(question="a", answer="b")], explain=True)
        kept = asked.order_of(take(tx, id))
        jobs.release(tx, id, "w", NOW)
        assert kept.asked == AskRequest(
            question="Who is Rosalind?", history=[Turn(question="a", answer="b")], explain=True
        )
        assert (kept.key_id, kept.client, kept.daily_tokens) == ("k1", "k1", 5)
        assert answer(tx, id, "b.md", DOC) is Ending.KEPT
    row = found(catalog, "q")
    assert (row.state, row.result, row.warning) == (JobState.SUCCEEDED, {"text": WORDS}, None)
    left = asked.order_of(row)
    assert (left.asked, left.key_id, left.documents) == (None, "k1", ["b.md", DOC])
    assert "Rosalind" not in everything(catalog)


def test_a_deletion_takes_the_answers_out_that_rest_on_the_document(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, **SAID)
        ingest(tx, "other", "one")
        answer(tx, order(tx, "cites"), DOC, "other")
        answer(tx, order(tx, "declines"), text=f"I do not know.\n\nNearest:\n- {CANARY}")
        answer(tx, order(tx, "not-its"), "other", text="Nothing sings.")
        answer(tx, order(tx, "elsewhere", space=OTHER), DOC, text="Another space's.")
        waits = order(tx, "waits", "What else?")
    removed = remove(catalog)
    assert removed.answers == 2
    assert CANARY not in everything(catalog)
    for id in ("cites", "declines"):
        row = found(catalog, id)
        assert (row.state, row.result) == (JobState.SUCCEEDED, None)
        assert f"document {DOC!r}" in (row.warning or "")
        assert row.view().updated_at == later(1)
    assert found(catalog, "not-its").result == {"text": "Nothing sings."}
    assert found(catalog, "elsewhere").result == {"text": "Another space's."}
    assert asked.order_of(found(catalog, waits)).asked is not None


def test_an_answer_that_comes_after_the_deletion_is_not_kept(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, **SAID)
        ingest(tx, "other", "one")
        row = take(tx, order(tx, "late"))
        since = changes.current_seq(tx, SPACE)
    remove(catalog)
    with catalog.write() as tx:
        ingest(tx, DOC, "two")
        late = asked.answered(tx, row, {"text": WORDS}, [DOC], since, later(2))
        assert late is Ending.OVERTAKEN, "although it was sent again since"
    assert found(catalog, "late").state is JobState.RUNNING
    assert CANARY not in everything(catalog)
    with catalog.write() as tx:
        assert asked.answered(tx, row, {"text": "x"}, [DocumentId("other")], since, later(2)) is Ending.KEPT
        assert asked.answered(tx, row, {"text": "y"}, [], since, later(3)) is Ending.LOST


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_a_conversation_that_ended_without_an_answer_goes_with_any_deletion(catalog: Catalog, state: JobState) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, **SAID)
        order(tx, "talked", history=[Turn(question="Who sings?", answer=WORDS)])
        order(tx, "alone", "Who sings?")
        tx.execute(schema.jobs.update().values(state=state))
    assert remove(catalog).answers == 0
    assert CANARY not in everything(catalog)
    assert asked.order_of(found(catalog, "talked")).asked is None
    assert asked.order_of(found(catalog, "alone")).asked == AskRequest(question="Who sings?")


MADE_WHOLE = {
    "text": "Nothing.",
    "rewritten": f"What does the {CANARY} eat?",
    "sub_questions": [f"what does the {CANARY} eat"],
    "trace": {"question": f"What does the {CANARY} eat?"},
}
LEFT: dict[str, Any] = {"text": "Nothing.", "rewritten": None, "sub_questions": [], "trace": None}


def test_a_question_that_a_conversation_made_whole_goes_with_any_deletion(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY, **SAID)
        ingest(tx, "other", "one")
        since = changes.current_seq(tx, SPACE)
        before, after = (take(tx, order(tx, id)) for id in ("before", "after"))
        alone = take(tx, order(tx, "alone"))
        own = {**LEFT, "sub_questions": ["a", "b"]}
        for row, result in ((before, MADE_WHOLE), (alone, own)):
            assert asked.answered(tx, row, result, [DocumentId("other")], since, later(1)) is Ending.KEPT
    assert found(catalog, "before").result == MADE_WHOLE, "the documents are still there"
    assert remove(catalog).answers == 0
    with catalog.write() as tx:
        since = changes.current_seq(tx, SPACE)
        assert asked.answered(tx, after, MADE_WHOLE, [DocumentId("other")], since, later(9)) is Ending.KEPT
    assert CANARY not in everything(catalog)
    assert found(catalog, "before").result == found(catalog, "after").result == LEFT
    assert found(catalog, "alone").result == own


def test_answers_are_forgotten_sooner_than_other_jobs(catalog: Catalog) -> None:
    with catalog.write() as tx:
        answer(tx, order(tx, "old"))
        order(tx, "waits")
        make_job(tx, "document")
        jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=9, now=NOW, job_id=JobId("document"))
        jobs.succeed(tx, JobId("document"), "w", result={}, warning=None, now=later(1))
        assert jobs.prune(tx, older_than=later(1), now=later(99), kind=JobKind.ASK) == 0
        assert jobs.prune(tx, older_than=later(2), now=later(99), kind=JobKind.ASK) == 1
        left = set(tx.execute(select(schema.jobs.c.id)).scalars())
    assert left == {"waits", "document"}


def test_whose_lease_it_is_can_be_looked_at_without_renewing_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("mine", "cancelled", "theirs"):
            order(tx, id)
        take(tx, JobId("mine"))
        take(tx, JobId("cancelled"))
        jobs.claim(tx, owner="x", queue=Queue.ASK, lease_s=9, now=NOW, job_id=JobId("theirs"))
        jobs.request_cancel(tx, SPACE, JobId("cancelled"), NOW)
    until = found(catalog, "mine").lease_until
    with catalog.read() as tx:
        ids = [JobId(id) for id in ("mine", "cancelled", "theirs", "none")]
        assert jobs.held(tx, ids, "w") == {"mine"}
    assert found(catalog, "mine").lease_until == until


def test_a_newer_release_may_have_stored_more(catalog: Catalog) -> None:
    with catalog.write() as tx:
        id = order(tx, "q")
        newer = json.loads(AskOrder(asked=AskRequest(question="a")).model_dump_json())
        newer["asked"]["mood"] = newer["colour"] = "blue"
        tx.execute(schema.jobs.update().where(schema.jobs.c.id == id).values(payload=newer))
    assert asked.order_of(found(catalog, "q")).asked == AskRequest(question="a")
