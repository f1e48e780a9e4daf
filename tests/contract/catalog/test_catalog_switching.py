"""Which index serves: exactly one at every moment, and the one that was asked for."""

import threading
from collections.abc import Callable
from functools import partial

import pytest

from services.shared.catalog import (
    calibrations,
    index_building,
    index_views,
    indexes,
    jobs,
    spaces,
    switching,
)
from services.shared.catalog.engine import Catalog
from services.shared.catalog.switching import NewIds, Switched, Waiting
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, JobId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, JobState
from tests.contract.catalog.building import NOW, SPACE, at_once, ingest, later
from tests.contract.catalog.second_indexes import (
    SECOND,
    A,
    B,
    C,
    begin,
    end_job,
    fitted,
    make_ready,
    promote,
    serving_space,
    states,
    stored,
)


def test_the_serving_index_is_not_removed(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        with pytest.raises(RagstoneError, match="serves this space"):
            switching.retire(tx, SPACE, A, job_id=JobId("drop"), request_id="r", now=NOW)


def test_a_level_index_serves_at_once_and_the_old_one_stands_by(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        switched = promote(tx, B)
        assert isinstance(switched, Switched)
        assert switched.jobs == ()
        assert (switched.index.state, switched.index.promoted_at) == (IndexPhase.SERVING, NOW)
        assert states(tx) == {"a": "standby", "b": "serving"}
        assert indexes.lag(tx, stored(tx, A)) == 0
        assert [row.id for row in indexes.with_collection(tx, SPACE)] == ["b", "a"]
        again = promote(tx, B)
        assert isinstance(again, Switched), "asking again changes nothing"


def test_rolling_back_and_the_standby_before_is_retired(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        promote(tx, B)
        assert switching.standby(tx, SPACE).id == "a"
        assert isinstance(promote(tx, A), Switched), "what served before needs no comparison"
        assert states(tx) == {"a": "serving", "b": "standby"}
        make_ready(tx, C)
        promote(tx, C)
        assert states(tx) == {"a": "standby", "b": "retired", "c": "serving"}


def test_without_a_standby_nothing_leads_back(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        with pytest.raises(RagstoneError) as refused:
            switching.standby(tx, SPACE)
        assert refused.value.code is ErrorCode.INDEX_STATE_CONFLICT


def test_one_that_measures_worse_takes_force(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx, worse=True)
        with pytest.raises(RagstoneError) as refused:
            promote(tx, B)
        assert refused.value.code is ErrorCode.INDEX_WORSE
        assert "ndcg@10 0.600 against 0.800" in refused.value.detail
        assert "force" in refused.value.detail
        assert states(tx)["a"] == "serving"
        assert isinstance(promote(tx, B, force=True), Switched)


def test_one_that_was_not_compared_takes_force(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        index_building.ready(tx, B, None, "no questions could be made")
        with pytest.raises(RagstoneError, match="not compared"):
            promote(tx, B)
        assert isinstance(promote(tx, B, force=True), Switched)


def test_what_is_not_built_to_its_end_cannot_serve(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        index_building.settle(tx, begin(tx), SECOND)
        with pytest.raises(RagstoneError) as refused:
            promote(tx, B, force=True)
        assert refused.value.code is ErrorCode.INDEX_STATE_CONFLICT


def test_one_that_lags_is_promoted_by_its_job(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        ingest(tx, "two")
        waiting = promote(tx, B)
        assert isinstance(waiting, Waiting)
        assert [job.id for job in waiting.jobs] == ["follow-b"]
        assert waiting.index.promotion == "asked"
        assert index_views.view(tx, waiting.index).reason == (
            "It is promoted as soon as it is level with the content; 1 changes are left."
        )
        again = promote(tx, B, tag="2")
        assert isinstance(again, Waiting)
        assert again.jobs == (), "one is at it already"
        assert index_building.note_followed(tx, B, seq=2, vectors=4, truncated=0)
        ids = NewIds(JobId("x"), JobId("y"))
        assert switching.flip(tx, stored(tx, B), ids=ids, request_id="r", now=NOW) is not None
        assert stored(tx, B).promotion is None


def test_others_that_are_ready_are_compared_anew_after_a_switch(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        make_ready(tx, C)
        assert indexes.lagging(tx, later(60)) == []
        promote(tx, B)
        assert stored(tx, C).comparison is None
        assert [row.id for row in indexes.lagging(tx, later(60))] == ["c"]


def test_a_promotion_that_waits_is_followed_at_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        ingest(tx, "two")
        promote(tx, B)
        end_job(tx, "follow-b", seconds=1)
        assert [row.id for row in indexes.lagging(tx, later(2))] == ["b"]


def test_a_calibrated_space_is_calibrated_anew_for_its_new_index(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        calibration = fitted(A)
        assert calibrations.store(tx, SPACE, calibration)
        make_ready(tx)
        switched = promote(tx, B)
        assert [(job.id, job.kind) for job in switched.jobs] == [("calibrate-b", JobKind.CALIBRATION)]
        assert "calibrate-b" in str(switched.index.reason)
        assert calibrations.in_force(tx, SPACE) is None
        promote(tx, A)
        assert calibrations.in_force(tx, SPACE) == calibration, "it stayed with its index"


def test_at_every_moment_exactly_one_index_serves(catalog: Catalog) -> None:
    """Two that are switched to and fro by threads, while documents are published and others look."""
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        promote(tx, B)
    over = threading.Event()
    seen: list[int] = []

    def look() -> None:
        while not over.is_set():
            with catalog.read() as tx:
                seen.append(sum(state == "serving" for state in states(tx).values()))

    def switch(id: IndexId) -> int:
        done = 0
        for n in range(25):
            with catalog.write() as tx:
                spaces.lock(tx, SPACE)
                index_building.note_followed(tx, id, seq=10_000, vectors=0, truncated=0)
                done += isinstance(promote(tx, id, tag=f"-{n}"), Switched)
        return done

    def publish() -> int:
        for n in range(25):
            with catalog.write() as tx:
                ingest(tx, f"doc-{n}")
        return 0

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        calls: list[Callable[[], int]] = [partial(switch, A), partial(switch, B), publish]
        done = at_once(calls)
    finally:
        over.set()
        watcher.join()
    assert sum(done) == 50
    assert set(seen) == {1}
    assert sorted(_now(catalog).values()) == ["serving", "standby"]


def test_two_who_promote_at_once_make_one_job(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        ingest(tx, "two")

    def ask(n: int) -> int:
        with catalog.write() as tx:
            return len(promote(tx, B, tag=f"-{n}").jobs)

    assert sorted(at_once([partial(ask, n) for n in range(4)])) == [0, 0, 0, 1]
    with catalog.read() as tx:
        assert jobs.counts(tx, SPACE)[JobState.QUEUED] == 1


def _now(catalog: Catalog) -> dict[str, str]:
    with catalog.read() as tx:
        return states(tx)
