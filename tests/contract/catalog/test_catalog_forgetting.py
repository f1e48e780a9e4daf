"""A deleted document is repeated nowhere: not by jobs, golden questions, evaluations, calibrations, nor in the file."""

import json
from pathlib import Path

from sqlalchemy import make_url, select

from services.shared.catalog import calibrations, golden, jobs, schema
from services.shared.catalog.engine import Catalog
from services.shared.contracts.golden import MADE_OF, Behaviour, GoldenOrigin, GoldSpan, Question
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobItem, JobKind, JobState, Queue
from tests.contract.catalog.asking import kept, put
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, ingest, later, make_job, submit
from tests.contract.catalog.forgotten import CANARY, DOC, SAID, everything, remove

QUEUE = Queue.INGEST


def test_jobs_of_a_deleted_document_are_emptied_and_keep_their_states(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx, DOC, CANARY, **SAID)
        for n, state in enumerate(JobState):
            make_job(tx, f"j{n}", sent=sent, revision=1)
            named = schema.jobs.c.id == f"j{n}"
            told = {"state": state, "reason": f"{CANARY} is broken", "warning": f"{CANARY} looks odd"}
            tx.execute(schema.jobs.update().where(named).values(**told))
    removed = remove(catalog)
    assert set(removed.cancelled_jobs) == {"j0", "j1"}
    assert CANARY not in everything(catalog)
    with catalog.read() as tx:
        mine, _ = jobs.list_jobs(tx, SPACE, states=None, limit=10, cursor=None, document_id=DOC)
    why = f"document {DOC!r} was deleted"
    assert {job.id: (job.state, job.reason, job.payload) for job in mine} == {
        "j0": (JobState.CANCELLED, why, {}),
        "j1": (JobState.RUNNING, why, {}),
        "j2": (JobState.SUCCEEDED, None, {}),
        "j3": (JobState.FAILED, why, {}),
        "j4": (JobState.CANCELLED, why, {}),
    }


def test_what_its_worker_says_after_that_changes_no_reason(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft(DOC, CANARY, **SAID)
        revision = submit(tx, sent)
        for id in ("fails", "superseded", "away", "reaped"):
            make_job(tx, id, sent=sent, revision=revision)
            jobs.claim(tx, owner="w", queue=QUEUE, lease_s=9, now=NOW, job_id=JobId(id))
    remove(catalog)
    with catalog.write() as tx:
        assert jobs.fail(tx, JobId("fails"), "w", reason=CANARY, now=later(2))
        assert jobs.cancelled(tx, JobId("superseded"), "w", reason=CANARY, now=later(2))
        assert jobs.put_off(tx, JobId("away"), "w", reason=CANARY, max_attempts=3, now=later(2))
        jobs.reap(tx, max_attempts=3, now=later(99))
        mine, _ = jobs.list_jobs(tx, SPACE, states=None, limit=10, cursor=None)
    assert {(job.state, job.reason) for job in mine} == {(JobState.CANCELLED, f"document {DOC!r} was deleted")}
    assert CANARY not in everything(catalog)


def test_a_person_who_cancels_is_told_so_when_the_work_fails_meanwhile(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, "j")
        jobs.claim(tx, owner="w", queue=QUEUE, lease_s=9, now=NOW, job_id=JobId("j"))
        jobs.request_cancel(tx, SPACE, JobId("j"), NOW)
        jobs.fail(tx, JobId("j"), "w", reason="it broke", now=later(1))
        job = jobs.find(tx, JobId("j"))
    assert job is not None
    assert (job.state, job.reason) == (JobState.CANCELLED, jobs.CANCELLED_ON_REQUEST)


def test_what_a_batch_says_of_it_is_emptied(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
        ingest(tx, "other")
        for id, space in (("b", SPACE), ("elsewhere", OTHER)):
            jobs.create(
                tx, id=JobId(id), space=space, kind=JobKind.BATCH, queue=QUEUE, document_id=None, revision=None,
                payload={"blob_sha256": "a" * 64, "size_bytes": 3}, request_id="r", now=NOW,
            )  # fmt: skip
            failed = {"state": JobState.FAILED, "unchanged": False}
            mine = JobItem(n=1, document_id=DOC, reason=f"line 1: {CANARY} {space}", **failed)
            jobs.add_items(tx, JobId(id), [mine, JobItem(n=2, document_id=DocumentId("other"), reason="odd", **failed)])
            over = {"state": JobState.SUCCEEDED, "warning": f"2 failed; the first: {CANARY} {space}"}
            tx.execute(schema.jobs.update().where(schema.jobs.c.id == id).values(**over))
    removed = remove(catalog)
    assert removed.blobs_orphaned.count("a" * 64) == 1, "nobody reads the body of a batch that succeeded again"
    with catalog.read() as tx:
        items, _ = jobs.items(tx, JobId("b"), limit=9, cursor=None)
        batch = jobs.find(tx, JobId("b"))
    assert [item.reason for item in items] == [f"document {DOC!r} was deleted", "odd"]
    assert batch is not None
    assert batch.warning == "some of its documents failed; the job's items name them"
    assert f"{CANARY} {SPACE}" not in everything(catalog)
    assert f"{CANARY} {OTHER}" in everything(catalog), "another space's is another document"


def test_questions_made_of_it_go_and_an_owners_own_stays_without_the_answer(catalog: Catalog) -> None:
    gold = [GoldSpan(document_id=DOC, quote=f"text of {CANARY}"), GoldSpan(document_id=DocumentId("other"))]
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
        ingest(tx, "other")
        ruled = Question(id="ruled", text=f"What is {CANARY}?", gold=gold[:1])
        near = Question(
            id="near", text=f"Who is {CANARY}?", behaviour=Behaviour.ABSTAIN, tags=["near_miss", f"{MADE_OF}{DOC}"]
        )
        far = Question(id="far", text="Who won?", behaviour=Behaviour.ABSTAIN, tags=[f"{MADE_OF}other"])
        assert golden.propose(tx, SPACE, [ruled, near, far], GoldenOrigin.RULE, NOW) == 3
        own = Question(
            id="own", text="How large?", gold=gold, expected=CANARY, facts=[[CANARY]], needed=1, must_not=[CANARY]
        )
        put(tx, own)
    remove(catalog)
    with catalog.read() as tx:
        assert [
            item.question.id for item in golden.page(tx, SPACE, states=None, flagged=None, limit=9, cursor=None).items
        ] == ["far", "own"]
        left = kept(tx, "own")
    assert left.question == Question(
        id="own", text="How large?", gold=[gold[0].model_copy(update={"quote": None}), gold[1]]
    )
    assert left.flagged == f"document {DOC!r} is not in this space"
    assert CANARY not in everything(catalog)


def test_no_question_is_proposed_of_what_was_deleted_meanwhile(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
    remove(catalog)
    ruled = Question(id="ruled", text=CANARY, gold=[GoldSpan(document_id=DOC, quote=CANARY)])
    near = Question(id="near", text=CANARY, behaviour=Behaviour.ABSTAIN, tags=[f"{MADE_OF}{DOC}"])
    with catalog.write() as tx:
        assert golden.propose(tx, SPACE, [ruled, near], GoldenOrigin.MODEL, NOW) == 0
    assert CANARY not in everything(catalog)


def test_questions_of_a_calibration_under_way_go(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
        ingest(tx, "other")
        make_job(tx, "c", kind=JobKind.CALIBRATION)
        cases = [{"question": CANARY, "document_id": DOC}, {"question": "Else?", "document_id": "other"}]
        calibrations.keep_cases(tx, JobId("c"), cases)
    remove(catalog)
    with catalog.write() as tx:
        assert [(one.n, one.asked["question"]) for one in calibrations.cases(tx, JobId("c"))] == [(1, "Else?")]
        # Its worker made them before the deletion, and writes them down after it.
        calibrations.keep_cases(tx, JobId("c"), cases)
        assert [one.asked["question"] for one in calibrations.cases(tx, JobId("c"))] == ["Else?"]
    assert CANARY not in everything(catalog)


def test_vectors_of_a_version_on_its_way_in_are_named_too(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, DOC, "one")
        new = draft(DOC, "two")
        submit(tx, new)
    assert remove(catalog).version_ids == [old.version_id, new.version_id]


def test_the_file_holds_nothing_of_it_once_its_log_is_settled(catalog: Catalog, url: str) -> None:
    path = make_url(url).database
    if not url.startswith("sqlite") or path is None:
        return
    with catalog.write() as tx:
        for n in range(40):
            ingest(tx, f"d{n}", f"{CANARY}{n:03d} " * (n * 37 % 400 + 1), number=n % 9 + 1, **SAID)
        ingest(tx, "stays", "Kettle " * 500)
    for n in range(40):
        remove(catalog, f"d{n}")
    assert catalog.settle(5.0)
    left = b"".join(file.read_bytes() for file in Path(path).parent.iterdir())
    assert b"Kettle" in left
    for form in (CANARY.encode(), CANARY.encode("utf-16-le"), json.dumps(CANARY)[1:-1].encode()):
        assert form not in left


def test_a_reader_of_old_keeps_the_log_for_a_while(catalog: Catalog, url: str) -> None:
    if not url.startswith("sqlite"):
        return
    with catalog.write() as tx:
        ingest(tx, DOC, CANARY)
    with catalog.read() as old:
        old.execute(select(schema.documents)).all()
        remove(catalog)
        assert not catalog.settle(0.1)
    assert catalog.settle(0.1)
    with catalog.write() as tx:
        ingest(tx, "next")
