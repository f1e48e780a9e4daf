"""Figures of the whole catalog."""

import pytest
from sqlalchemy import Connection

from services.shared.catalog import figures, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later
from tests.contract.catalog.second_indexes import begin, serving_space


def make(tx: Connection, id: str, kind: JobKind, state: JobState, seconds: float, space: SpaceId = SPACE) -> None:
    jobs.create(
        tx,
        id=JobId(id),
        space=space,
        kind=kind,
        queue=QUEUE_OF[kind],
        document_id=None,
        revision=None,
        payload={},
        request_id="",
        now=later(seconds),
        state=state,
    )


def test_an_empty_catalog_has_none(catalog: Catalog) -> None:
    with catalog.read() as tx:
        assert figures.figures(tx) == figures.Figures({}, {}, 0, 0, 0, {})


def test_all_spaces_are_counted_together(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a", number=2)
        ingest(tx, "b", "two", space=OTHER, number=3)
        make(tx, "1", JobKind.DOCUMENT, JobState.SUCCEEDED, 0)
        make(tx, "2", JobKind.DOCUMENT, JobState.QUEUED, 5, OTHER)
        make(tx, "3", JobKind.DOCUMENT, JobState.QUEUED, 2)
        make(tx, "4", JobKind.ASK, JobState.QUEUED, 9)
        make(tx, "5", JobKind.CALIBRATION, JobState.FAILED, 1)
    with catalog.read() as tx:
        found = figures.figures(tx)
    assert (found.spaces, found.documents, found.chunks) == (2, 2, 5)
    assert found.jobs == {
        (JobState.SUCCEEDED, JobKind.DOCUMENT): 1,
        (JobState.QUEUED, JobKind.DOCUMENT): 2,
        (JobState.QUEUED, JobKind.ASK): 1,
        (JobState.FAILED, JobKind.CALIBRATION): 1,
    }
    assert found.waiting == {Queue.INGEST: (2, later(2)), Queue.ASK: (1, later(9))}
    assert min(at for _, at in found.waiting.values()) > NOW


@pytest.mark.parametrize("changes", [0, 3])
def test_an_index_beside_the_serving_one_is_behind_by_what_changed(catalog: Catalog, changes: int) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        begin(tx)
        at_first = figures.figures(tx).lag[IndexPhase.BUILDING]
        for n in range(changes):
            ingest(tx, f"new-{n}", f"content {n}")
        assert figures.figures(tx).lag == {IndexPhase.BUILDING: at_first + changes}
