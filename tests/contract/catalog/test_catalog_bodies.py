"""Bodies of batches lose the lines of a deleted document, and every other line keeps its number."""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest

from services.shared.catalog import bodies, documents, jobs, schema, spaces
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, ingest, later

DOC = DocumentId('döc/1 "a"')
CANARY = b"zebrafinch"
FAILED = JobState.FAILED


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def escaped(text: str) -> str:
    """As JSON may write it, every character by its number."""
    return '"' + "".join(f"\\u{ord(char):04X}" for char in text) + '"'


def body(*lines: str) -> bytes:
    return "\n".join(lines).encode()


LINES = (
    json.dumps({"id": DOC, "text": "zebrafinch"}),
    "",
    json.dumps({"id": "other", "text": f"names {DOC}"}),
    json.dumps({"text": "zebrafinch", "id": DOC}, ensure_ascii=False),
    '{"id": ' + escaped(DOC) + ', "text": "zebrafinch"}',
    '{"id": "other", "id": "döc\\/1 \\"a\\"", "text": "zebrafinch"}',
    '{"id": "döc/1 \\"a\\"", "text": "zebrafinch", broken',
    json.dumps({"text": "without an id"}),
)
LEFT = (2, 3, 8)


def batch(
    catalog: Catalog,
    blobs: Blobs,
    id: str,
    data: bytes,
    state: JobState,
    space: SpaceId = SPACE,
    now: datetime = NOW,
) -> str:
    sha256, size = blobs.put(data)
    with catalog.write() as tx:
        spaces.make_and_lock(tx, space, now)
        jobs.create(
            tx,
            id=JobId(id),
            space=space,
            kind=JobKind.BATCH,
            queue=Queue.INGEST,
            document_id=None,
            revision=None,
            payload={"blob_sha256": sha256, "size_bytes": size},
            request_id="r",
            now=now,
        )
        if state is JobState.RUNNING:
            jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=9, now=NOW, job_id=JobId(id))
        else:
            tx.execute(schema.jobs.update().where(schema.jobs.c.id == id).values(state=state))
    return sha256


def empty(catalog: Catalog, blobs: Blobs, id: str = DOC, within_s: float = 9.0) -> bodies.Emptied:
    return bodies.empty(catalog, blobs, SPACE, DocumentId(id), lambda: later(1), within_s=within_s)


def found(catalog: Catalog, id: str) -> jobs.JobRow:
    with catalog.read() as tx:
        job = jobs.find(tx, JobId(id))
    assert job is not None
    return job


def files(blobs: Blobs) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in blobs._folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.FAILED, JobState.CANCELLED])
def test_a_body_that_may_be_read_again_loses_the_documents_lines(
    catalog: Catalog, blobs: Blobs, state: JobState
) -> None:
    old = batch(catalog, blobs, "b", body(*LINES), state)
    done = empty(catalog, blobs)
    job = found(catalog, "b")
    new = job.payload["blob_sha256"]
    assert new != old
    assert list(files(blobs)) == [new]
    assert CANARY not in files(blobs)[new]
    lines = blobs.read(new).decode().split("\n")
    assert [n for n, line in enumerate(lines, 1) if line] == [n for n in LEFT if LINES[n - 1]]
    assert [lines[n - 1] for n in LEFT] == [LINES[n - 1] for n in LEFT]
    assert job.payload["size_bytes"] == len(blobs.read(new))
    assert done.complete
    if state is JobState.RUNNING:
        assert (done.to_ring, job.state, job.attempts, job.lease_owner) == (["b"], JobState.QUEUED, 0, None)
    else:
        assert (done.to_ring, job.state) == ([], state)
    assert empty(catalog, blobs) == bodies.Emptied([], complete=True), "there is nothing left to do"


def test_the_lines_own_original_goes_with_it_unless_somebody_else_needs_it(catalog: Catalog, blobs: Blobs) -> None:
    """A worker keeps it before any record names it; and stops before it records the line."""
    kept, _ = blobs.put(CANARY)
    batch(catalog, blobs, "b", body(LINES[0], LINES[2]), JobState.RUNNING)
    assert empty(catalog, blobs).complete
    assert kept not in files(blobs)
    shared, _ = blobs.put(CANARY)
    with catalog.write() as tx:
        ingest(tx, "twin", CANARY.decode())
    batch(catalog, blobs, "c", body(LINES[0], LINES[2]), JobState.RUNNING)
    assert empty(catalog, blobs).complete
    assert shared in files(blobs)


def test_the_worker_it_is_taken_from_can_end_nothing(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "b", body(*LINES), JobState.RUNNING)
    empty(catalog, blobs)
    with catalog.write() as tx:
        assert jobs.heartbeat(tx, [JobId("b")], "w", 9, later(2)) == set()
        assert not jobs.fail(tx, JobId("b"), "w", reason="its body is gone", now=later(2))


def test_one_that_is_to_be_cancelled_ends_so(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "b", body(*LINES), JobState.RUNNING)
    with catalog.write() as tx:
        jobs.request_cancel(tx, SPACE, JobId("b"), later(0))
    assert empty(catalog, blobs).to_ring == []
    assert found(catalog, "b").state is JobState.CANCELLED


def test_a_line_without_an_id_is_known_by_its_number(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "b", body('{"text": "a"}', '{"text": "zebrafinch"}', '{"id": "b-2", "text": "c"}'), FAILED)
    empty(catalog, blobs, "b-2")
    assert blobs.read(found(catalog, "b").payload["blob_sha256"]) == b'{"text": "a"}\n\n\n'


def test_bodies_without_it_of_other_spaces_and_of_batches_that_succeeded_are_left_alone(
    catalog: Catalog, blobs: Blobs
) -> None:
    kept = [
        batch(catalog, blobs, "without", b'{"id": "x", "text": "y"}', FAILED),
        batch(catalog, blobs, "elsewhere", body(*LINES), FAILED, OTHER),
        batch(catalog, blobs, "over", body(*LINES), JobState.SUCCEEDED),
    ]
    assert empty(catalog, blobs) == bodies.Emptied([], complete=True)
    assert set(files(blobs)) == set(kept)


def test_a_body_that_two_batches_share_is_exchanged_for_both(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "b1", body(*LINES), FAILED)
    batch(catalog, blobs, "b2", body(*LINES), JobState.QUEUED)
    empty(catalog, blobs)
    assert found(catalog, "b1").payload == found(catalog, "b2").payload
    assert all(CANARY not in data for data in files(blobs).values())


def test_time_that_is_over_is_said(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "b", body(*LINES), FAILED)
    assert empty(catalog, blobs, within_s=-1) == bodies.Emptied([], complete=False)
    assert empty(catalog, blobs).complete


def test_a_body_that_is_gone_already_is_no_error(catalog: Catalog, blobs: Blobs) -> None:
    blobs.delete(batch(catalog, blobs, "b", body(*LINES), FAILED))
    assert empty(catalog, blobs) == bodies.Emptied([], complete=True)


def hold(catalog: Catalog, blobs: Blobs, id: str = DOC, within_s: float = 9.0) -> bool:
    return bodies.hold(catalog, blobs, SPACE, DocumentId(id), within_s=within_s)


def remove(catalog: Catalog, seconds: float, *, coming: bool = False) -> documents.Removed | None:
    with catalog.write() as tx:
        return documents.remove(tx, SPACE, DOC, later(seconds), coming=coming)


def told(catalog: Catalog, batch_id: str) -> documents.Submitted:
    """What a worker is told of the document's line when it comes to it."""
    with catalog.write() as tx:
        job = jobs.find(tx, JobId(batch_id))
        assert job is not None
        return documents.submit(tx, SPACE, draft(DOC), later(99), said_at=job.created_at)


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.FAILED, JobState.CANCELLED])
def test_a_deletion_before_the_worker_comes_to_the_line_holds(catalog: Catalog, blobs: Blobs, state: JobState) -> None:
    batch(catalog, blobs, "b", body(*LINES), state)
    assert remove(catalog, 1) is None
    assert hold(catalog, blobs)
    removed = remove(catalog, 1, coming=True)
    assert removed is not None
    assert (removed.versions, removed.chunks, removed.version_ids, removed.blobs_orphaned) == (0, 0, [], [])
    assert not hold(catalog, blobs), "said before its deletion"
    assert told(catalog, "b").superseded
    assert remove(catalog, 2) is None, "there is nothing to forget any more"
    empty(catalog, blobs)
    assert all(CANARY not in data for data in files(blobs).values())


def test_only_a_body_that_may_be_read_again_and_names_it_holds_a_document(catalog: Catalog, blobs: Blobs) -> None:
    batch(catalog, blobs, "elsewhere", body(*LINES), FAILED, OTHER)
    batch(catalog, blobs, "over", body(*LINES), JobState.SUCCEEDED)
    batch(catalog, blobs, "without", body(LINES[2]), JobState.QUEUED)
    assert not hold(catalog, blobs)
    assert hold(catalog, blobs, "other")
    assert hold(catalog, blobs, within_s=-1), "not looked through in time"


def test_a_batch_that_was_sent_after_the_deletion_brings_it_in_and_keeps_its_line(
    catalog: Catalog, blobs: Blobs
) -> None:
    batch(catalog, blobs, "before", body(*LINES), JobState.QUEUED)
    remove(catalog, 5, coming=True)
    batch(catalog, blobs, "after", body("", *LINES), JobState.QUEUED, now=later(6))
    empty(catalog, blobs)
    assert CANARY not in blobs.read(found(catalog, "before").payload["blob_sha256"])
    assert CANARY in blobs.read(found(catalog, "after").payload["blob_sha256"])
    assert hold(catalog, blobs), "it can be deleted again before it is there"
    sent = told(catalog, "after")
    assert (sent.revision, sent.superseded) == (2, False)
    remove(catalog, 7)
    empty(catalog, blobs)
    assert CANARY not in blobs.read(found(catalog, "after").payload["blob_sha256"])


def test_two_deletions_at_once_lose_no_line_of_each_other(
    catalog: Catalog, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one exchanges the body while the first one writes its own."""
    batch(catalog, blobs, "b", body(*LINES), JobState.QUEUED)
    plain, between = bodies._without, [True]

    def overtaken(blobs: Blobs, sha256: str, numbers: Iterable[int]) -> tuple[str, int, set[str]]:
        if between:
            between.clear()
            empty(catalog, blobs, "other")
            if not blobs.path(sha256).exists():
                blobs.put(body(*LINES))
        return plain(blobs, sha256, set(numbers))

    monkeypatch.setattr(bodies, "_without", overtaken)
    assert empty(catalog, blobs).complete
    left = blobs.read(found(catalog, "b").payload["blob_sha256"]).decode().split("\n")
    assert [line for line in left if line] == [LINES[7]]


def test_one_whose_body_was_exchanged_between_two_looks_is_looked_through_as_well(
    catalog: Catalog, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch(catalog, blobs, "b", body(*LINES), JobState.QUEUED)
    plain, between = bodies.lines_of, [True]

    def overtaken(blobs: Blobs, of: bodies.Body, document_id: DocumentId) -> set[int]:
        if between and document_id == DOC:
            between.clear()
            empty(catalog, blobs, "other")
        return plain(blobs, of, document_id)

    monkeypatch.setattr(bodies, "lines_of", overtaken)
    assert hold(catalog, blobs)
