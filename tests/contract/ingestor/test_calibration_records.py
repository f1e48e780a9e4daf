"""A calibration's content and record in a real catalog, and when the reconciler orders another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from services.ingestor.adapters.calibrations import CatalogCalibrationContent, CatalogCalibrations
from services.ingestor.adapters.catalog_records import claimed_of
from services.ingestor.adapters.housekeeping import CatalogHousekeeping
from services.ingestor.ports.jobs import ClaimedJob
from services.shared.catalog import calibrations, changes, documents, golden, indexes, jobs
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.documents import Draft
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.calibration import Calibration, CalibrationRequest, Logistic, Thresholds
from services.shared.contracts.golden import GoldenIn, GoldenOrigin, GoldenState
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId
from services.shared.contracts.jobs import JobKind, Queue
from services.shared.evaluation.calibration.cases import Case, Kind, Seen
from tests.contract.ingestor.test_golden_content import SPACE, THEN, Store, question

INDEX = IndexId("i1")


class Events:
    def __init__(self) -> None:
        self.told: list[JobId] = []

    def changed(self, job_id: JobId) -> None:
        self.told.append(job_id)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.migrate()
    one = Store(catalog)
    for n in range(4):
        one.publish(f"{n}.md", f"First {n}.\n\nSecond {n}.")
    with catalog.write() as tx:
        indexes.create(tx, SPACE, id=INDEX, embedder=EmbedderSpec("m", "r", 3, "", "", 256), now=THEN)
    yield one
    catalog.close()


def ordered(store: Store) -> ClaimedJob:
    with store.catalog.write() as tx:
        request = CalibrationRequest(risk=0.1)
        return claimed_of(calibrations.order(tx, SPACE, request, id=JobId("c1"), request_id="", now=THEN))


def fitted(store: Store) -> Calibration:
    with store.catalog.read() as tx:
        seq = changes.current_seq(tx, SPACE)
    return Calibration(
        id="c1", index_id=INDEX, created_at=THEN, seq=seq, chunks=8, risk=0.1, expected_risk=0.1,
        expected_coverage=0.8, asked={}, auroc={}, thresholds=Thresholds(),
        answerability=Logistic(intercept=0, weights={}),
    )  # fmt: skip


def test_documents_come_with_the_ids_of_their_passages(store: Store) -> None:
    content = CatalogCalibrationContent(store.catalog)
    sources = list(content.sources(SPACE, 0))
    assert {source.document.document_id for source in sources} == {f"{n}.md" for n in range(4)}
    for source in sources:
        assert [len(source.chunk_ids), len(source.document.passages)] == [2, 2]
        assert content.live(SPACE, [*source.chunk_ids, ChunkId("gone-00000")]) == set(source.chunk_ids)
    assert (content.index(SPACE), content.size(SPACE)) == (INDEX, 8)


def test_only_decided_golden_questions_are_kept_back(store: Store) -> None:
    with store.catalog.write() as tx:
        states = (GoldenState.APPROVED, GoldenState.REJECTED, GoldenState.PROPOSED)
        items = [GoldenIn(question=question(state.value), state=state) for state in states]
        golden.put(tx, SPACE, items, GoldenOrigin.OWNER, THEN)
    assert CatalogCalibrationContent(store.catalog).decided(SPACE) == {"approved", "rejected"}


def test_what_was_seen_is_there_after_a_break(store: Store) -> None:
    records, job = CatalogCalibrations(store.catalog), ordered(store)
    cases = [Case(kind=kind, question=f"{kind}?", document_id=DocumentId("0.md"), facts=[["a", "b"]]) for kind in Kind]
    records.plan(job, cases)
    seen = Seen(index_id=INDEX, seq=4, features={"gap": 0.25}, distance=0.1, found=True, reciprocal={"rrf": 0.5})
    records.note(job.id, 2, seen)
    assert records.planned(job.id) == [(n, case, seen if n == 2 else None) for n, case in enumerate(cases)]
    assert records.store(job, fitted(store))
    records.forget(job.id)
    assert records.planned(job.id) == []


def test_another_is_ordered_after_large_changes_when_no_document_is_at_work(store: Store, tmp_path: Path) -> None:
    events = Events()
    house = CatalogHousekeeping(
        store.catalog, Blobs(tmp_path / "blobs"), cast("Any", events), lambda: THEN, max_attempts=3, ring_after_s=1,
        stale_after_s=1, blob_grace_s=1, keep_jobs_days=1, keep_copies_days=1,
        answer_keep_s=1, gaps_keep_days=1, calibrate_again_share=0.3,
    )  # fmt: skip
    assert house.begin_calibrating(SPACE) is None, "it was never calibrated"
    one = fitted(store)
    with store.catalog.write() as tx:
        assert calibrations.store(tx, SPACE, one)
    assert house.begin_calibrating(SPACE) is None, "nothing has changed"
    store.publish("4.md", "One.\n\nTwo.\n\nThree.")
    waiting = Draft(DocumentId("5.md"), "0", "5.md", "text/markdown", 1, None, None, None, None, {}, None)
    with store.catalog.write() as tx:
        sent = documents.submit(tx, SPACE, waiting, THEN)
        jobs.create(
            tx, id=JobId("d5"), space=SPACE, kind=JobKind.DOCUMENT, queue=Queue.INGEST,
            document_id=waiting.document_id, revision=sent.revision, payload={"draft": waiting.payload()},
            request_id="", now=THEN,
        )  # fmt: skip
    assert house.begin_calibrating(SPACE) is None, "a document waits"
    with store.catalog.write() as tx:
        jobs.request_cancel(tx, SPACE, JobId("d5"), THEN)
    job = house.begin_calibrating(SPACE)
    assert job is not None
    assert (job[0], events.told) == (Queue.INDEX, [job[1]])
    with store.catalog.read() as tx:
        row = jobs.find(tx, job[1])
    assert row is not None
    assert row.payload["risk"] == 0.1, "at the risk that the owner chose"
    assert house.begin_calibrating(SPACE) is None, "one waits"
