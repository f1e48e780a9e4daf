"""Second indexes as the catalog's tests order, build and switch them."""

from sqlalchemy import Connection, select

from services.shared.catalog import (
    index_building,
    indexes,
    jobs,
    schema,
    switching,
)
from services.shared.catalog.index_rows import StoredIndex, WantedEmbedder
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.catalog.switching import NewIds, Switched, Waiting
from services.shared.contracts.calibration import Calibration, Logistic, Thresholds
from services.shared.contracts.ids import IndexId, JobId
from services.shared.contracts.indexes import IndexComparison
from services.shared.contracts.jobs import JobKind, Queue
from tests.contract.catalog.building import NOW, SPACE, ingest, later

FIRST = EmbedderSpec("mini", "53aa", 384, "", "", 256)
SECOND = EmbedderSpec("big", "77bb", 768, "query: ", "passage: ", 512)
A, B, C = IndexId("a"), IndexId("b"), IndexId("c")


def begin(tx: Connection, id: IndexId = B, *, name: str = "big", promote: bool = False) -> StoredIndex:
    """Order an index; its job is named after it."""
    wanted = WantedEmbedder(name, None, None)
    made, _ = index_building.order(
        tx, SPACE, wanted, id=id, job_id=JobId(f"job-{id}"), promote=promote, request_id="r", now=NOW
    )
    return made


def serving_space(tx: Connection) -> None:
    indexes.create(tx, SPACE, id=A, embedder=FIRST, now=NOW)
    ingest(tx, "one")


def end_job(tx: Connection, id: str, *, failed: str | None = None, seconds: float = 0.0) -> None:
    """Claim the job and end it."""
    job_id = JobId(id)
    jobs.claim(tx, owner="w", queue=Queue.INDEX, lease_s=60, now=NOW, job_id=job_id, kind=JobKind.REEMBED)
    if failed is None:
        assert jobs.succeed(tx, job_id, "w", result=None, warning=None, now=later(seconds))
    else:
        assert jobs.fail(tx, job_id, "w", reason=failed, now=later(seconds))


def compared(*, worse: bool = False) -> IndexComparison:
    return IndexComparison(
        questions=40,
        golden="made",
        metric="ndcg@10",
        serving=0.8,
        candidate=0.6 if worse else 0.82,
        difference=-0.2 if worse else 0.02,
        low=-0.3 if worse else -0.01,
        high=-0.1 if worse else 0.05,
        worse=worse,
        seq=1,
    )


def fitted(index: IndexId) -> Calibration:
    return Calibration(
        id="c1",
        index_id=index,
        created_at=NOW,
        seq=1,
        chunks=2,
        risk=0.05,
        expected_risk=0.04,
        expected_coverage=0.8,
        asked={"answerable": 80},
        auroc={},
        thresholds=Thresholds(gate_distance=0.6),
        answerability=Logistic(intercept=0.1, weights={}),
        notes=[],
    )


def make_ready(tx: Connection, id: IndexId = B, *, worse: bool = False) -> StoredIndex:
    """A second index that is level and compared, whose job is over."""
    index_building.settle(tx, begin(tx, id), SECOND)
    end_job(tx, f"job-{id}")
    assert index_building.ready(tx, id, compared(worse=worse), None)
    return stored(tx, id)


def stored(tx: Connection, id: IndexId) -> StoredIndex:
    found = indexes.stored(tx, id)
    assert found is not None
    return found


def states(tx: Connection) -> dict[str, str]:
    return {str(row.id): row.state for row in tx.execute(select(schema.indexes.c.id, schema.indexes.c.state))}


def promote(tx: Connection, id: IndexId, *, force: bool = False, tag: str = "") -> Switched | Waiting:
    ids = NewIds(JobId(f"follow-{id}{tag}"), JobId(f"calibrate-{id}{tag}"))
    return switching.ask(tx, SPACE, id, force=force, ids=ids, request_id="r", now=NOW)
