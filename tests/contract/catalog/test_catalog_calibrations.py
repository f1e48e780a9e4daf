"""Calibrations: one for an index, outdated by large changes, ordered one at a time, resumed question by question."""

import pytest
from sqlalchemy import Connection, delete

from services.shared.catalog import calibrations, changes, chunks, documents, indexes, jobs, schema
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.calibration import Calibration, CalibrationRequest, Logistic, Thresholds
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, JobId
from services.shared.contracts.jobs import JobKind, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later

INDEX = IndexId("i1")
SPEC = EmbedderSpec("m", "r", 3, "", "", 256)
SHARE = 0.3


def fitted(seq: int = 0, chunk_count: int = 10, index: str = INDEX, risk: float = 0.05) -> Calibration:
    return Calibration(
        id="c1",
        index_id=IndexId(index),
        created_at=NOW,
        seq=seq,
        chunks=chunk_count,
        risk=risk,
        expected_risk=0.04,
        expected_coverage=0.8,
        asked={"answerable": 80},
        auroc={"left_out": 0.9},
        thresholds=Thresholds(gate_distance=0.6),
        answerability=Logistic(intercept=0.1, weights={"distance": -3.5}),
        notes=["Ünique."],
    )


def space_of_ten(tx: Connection) -> Calibration:
    """Five documents of two chunks each, an index, and a calibration of just that."""
    for n in range(5):
        ingest(tx, f"d{n}", f"content {n}")
    indexes.create(tx, SPACE, id=INDEX, embedder=SPEC, now=NOW)
    one = fitted(changes.current_seq(tx, SPACE), chunks.counts(tx, SPACE)[1])
    assert calibrations.store(tx, SPACE, one)
    return one


def order(tx: Connection, id: str, seconds: float = 1) -> jobs.JobRow:
    request = CalibrationRequest(risk=0.1)
    return calibrations.order(tx, SPACE, request, id=JobId(id), request_id="r", now=later(seconds))


def finish(tx: Connection, id: str, seconds: float) -> None:
    claim = {"owner": "w", "queue": Queue.INDEX, "lease_s": 60.0, "now": later(seconds), "job_id": JobId(id)}
    assert jobs.claim(tx, **claim)  # type: ignore[arg-type]
    assert jobs.succeed(tx, JobId(id), "w", result={}, warning=None, now=later(seconds))


def test_it_comes_back_whole_and_a_new_one_replaces_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        one = space_of_ten(tx)
        assert calibrations.current(tx, SPACE, INDEX) == calibrations.in_force(tx, SPACE) == one
        assert calibrations.current(tx, OTHER, INDEX) is None
        assert calibrations.store(tx, SPACE, fitted(risk=0.2))
    with catalog.read() as tx:
        found = calibrations.current(tx, SPACE, INDEX)
    assert found is not None
    assert found.risk == 0.2


def test_it_belongs_to_one_index_of_its_space(catalog: Catalog) -> None:
    with catalog.write() as tx:
        space_of_ten(tx)
        assert calibrations.current(tx, SPACE, IndexId("i2")) is None
        assert not calibrations.store(tx, SPACE, fitted(index="i2")), "an index that is not there"
        assert not calibrations.store(tx, OTHER, fitted()), "another space's index"
        tx.execute(delete(schema.indexes).where(schema.indexes.c.id == INDEX))
        assert calibrations.current(tx, SPACE, INDEX) is None
        assert calibrations.in_force(tx, SPACE) is None


def test_forgetting_it_twice_is_harmless(catalog: Catalog) -> None:
    with catalog.write() as tx:
        space_of_ten(tx)
        assert calibrations.forget(tx, SPACE, INDEX)
        assert not calibrations.forget(tx, SPACE, INDEX)
        assert calibrations.in_force(tx, SPACE) is None


@pytest.mark.parametrize(
    ("new", "changed", "gone", "share"),
    [(0, 0, 0, 0.0), (1, 0, 0, 0.2), (0, 2, 0, 0.4), (0, 0, 3, 0.6), (2, 1, 2, 0.6)],
)
def test_what_came_or_went_is_counted_by_chunks(
    catalog: Catalog, new: int, changed: int, gone: int, share: float
) -> None:
    with catalog.write() as tx:
        one = space_of_ten(tx)
        for n in range(new):
            ingest(tx, f"new{n}", f"new {n}")
        for n in range(changed):
            ingest(tx, f"d{n}", f"changed {n}")
        for n in range(gone):
            assert documents.remove(tx, SPACE, DocumentId(f"d{4 - n}"), later(5))
        assert calibrations.changed_share(tx, SPACE, one.seq, one.chunks) == pytest.approx(share)
        said = calibrations.stale(tx, SPACE, one, SHARE)
        assert (said is not None) is (share > SHARE)
        assert said is None or f"{share:.0%}" in said


def test_what_was_changed_twice_counts_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        one = space_of_ten(tx)
        for n in range(4):
            ingest(tx, "d0", f"again {n}")
        assert calibrations.changed_share(tx, SPACE, one.seq, one.chunks) == pytest.approx(0.2)


def test_an_order_says_where_the_catalog_was(catalog: Catalog) -> None:
    with catalog.write() as tx:
        one = space_of_ten(tx)
        job = order(tx, "j1")
        assert (job.kind, job.queue, job.payload["risk"]) == (JobKind.CALIBRATION, Queue.INDEX, 0.1)
        assert (job.payload["seq"], job.payload["chunks"]) == (one.seq, 10)


def test_one_job_at_a_time_and_none_for_nothing(catalog: Catalog) -> None:
    with catalog.write() as tx:
        with pytest.raises(RagstoneError, match="Nothing has been ingested") as caught:
            order(tx, "j0")
        assert caught.value.code is ErrorCode.INVALID_REQUEST
        space_of_ten(tx)
        order(tx, "j1")
        with pytest.raises(RagstoneError, match="Job j1 calibrates this space already") as caught:
            order(tx, "j2", 2)
        assert caught.value.code is ErrorCode.JOB_STATE_CONFLICT
        finish(tx, "j1", 3)
        assert order(tx, "j3", 4).id == "j3"


def test_it_is_due_after_large_changes_and_once_only(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert calibrations.due(tx, SPACE, SHARE) is None
        one = space_of_ten(tx)
        assert calibrations.due(tx, SPACE, SHARE) is None
        for n in range(2):
            ingest(tx, f"new{n}", f"new {n}")
        assert calibrations.due(tx, SPACE, SHARE) == one
        order(tx, "j1")
        assert calibrations.due(tx, SPACE, SHARE) is None, "one waits"
        finish(tx, "j1", 2)
        assert calibrations.due(tx, SPACE, SHARE) is None, "it was tried with this content"
        for n in range(5):
            ingest(tx, f"more{n}", f"more {n}")
        assert calibrations.due(tx, SPACE, SHARE) == one, "as much has changed once more"


def test_without_a_calibration_nothing_is_due(catalog: Catalog) -> None:
    with catalog.write() as tx:
        space_of_ten(tx)
        calibrations.forget(tx, SPACE, INDEX)
        for n in range(9):
            ingest(tx, f"new{n}", f"new {n}")
        assert calibrations.due(tx, SPACE, SHARE) is None


def test_questions_under_way_are_kept_with_their_job(catalog: Catalog) -> None:
    with catalog.write() as tx:
        space_of_ten(tx)
        job = order(tx, "j1")
        assert calibrations.cases(tx, job.id) == []
        calibrations.keep_cases(tx, job.id, [{"question": "Wann?"}, {"question": "Wo?"}])
        calibrations.note_seen(tx, job.id, 1, {"features": {"distance": 0.25}})
    with catalog.read() as tx:
        first, second = calibrations.cases(tx, job.id)
    assert (first.n, first.asked, first.seen) == (0, {"question": "Wann?"}, None)
    assert second.seen == {"features": {"distance": 0.25}}
    with catalog.write() as tx:
        calibrations.keep_cases(tx, job.id, [{"question": "Neu?"}])
        assert [one.asked["question"] for one in calibrations.cases(tx, job.id)] == ["Neu?"]
        calibrations.forget_cases(tx, job.id)
        assert calibrations.cases(tx, job.id) == []
        calibrations.keep_cases(tx, job.id, [{"question": "Noch?"}])
        tx.execute(delete(schema.jobs).where(schema.jobs.c.id == job.id))
        assert calibrations.cases(tx, job.id) == []
