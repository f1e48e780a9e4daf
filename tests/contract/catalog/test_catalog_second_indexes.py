"""An index beside the serving one, from the order to its removal."""

import pytest

from services.shared.catalog import (
    documents,
    index_building,
    index_views,
    indexes,
    jobs,
    switching,
)
from services.shared.catalog.engine import Catalog
from services.shared.catalog.index_rows import WantedEmbedder
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later
from tests.contract.catalog.second_indexes import (
    FIRST,
    SECOND,
    A,
    B,
    C,
    begin,
    end_job,
    make_ready,
    serving_space,
    states,
    stored,
)


def test_nothing_ingested_nothing_to_build(catalog: Catalog) -> None:
    with catalog.write() as tx, pytest.raises(RagstoneError, match="Nothing has been ingested"):
        begin(tx)


def test_an_index_is_ordered_with_its_job_and_seen_by_nobody_before_its_embedder_was_loaded(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        made = begin(tx)
        assert (made.state, made.spec, made.job_id) == (IndexPhase.BUILDING, None, "job-b")
        job = jobs.find(tx, JobId("job-b"))
        assert job is not None
        assert (job.kind, job.queue, job.payload) == (JobKind.REEMBED, Queue.INDEX, {"index_id": "b"})
        assert indexes.find(tx, B) is None
        assert [row.id for row in indexes.with_collection(tx)] == ["a"]
        shown = index_views.view(tx, made)
    assert (shown.state, shown.embedder.name, shown.embedder.dimension) == (IndexPhase.BUILDING, "big", None)
    assert (shown.chunks, shown.vectors, shown.lag) == (2, 0, 0)


def test_one_is_built_at_a_time_and_a_failed_one_gives_way(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        begin(tx)
        with pytest.raises(RagstoneError) as refused:
            begin(tx, C)
        assert refused.value.code is ErrorCode.INDEX_STATE_CONFLICT
        end_job(tx, "job-b", failed="index b: big is not here")
        shown = index_views.view(tx, stored(tx, B))
        assert shown.state is IndexPhase.FAILED
        assert shown.reason is not None
        assert "big is not here. POST /v1/jobs/job-b/retry" in shown.reason
        begin(tx, C, name="other")
        assert states(tx) == {"a": "serving", "b": "retired", "c": "building"}


def test_a_failed_build_of_the_same_embedder_is_gone_on_with(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        index_building.settle(tx, begin(tx), SECOND)
        index_building.note_built(tx, B, to=ChunkId("x"), vectors=1, truncated=0)
        end_job(tx, "job-b", failed="for some reason")
        again = begin(tx, C, promote=True)
        assert (again.id, again.built_to, again.job_id, again.promotion) == ("b", "x", "job-c", "asked")
        assert states(tx) == {"a": "serving", "b": "building"}
        end_job(tx, "job-c", failed="for some reason")
        other = WantedEmbedder("big", "other: ", None)
        made, _ = index_building.order(
            tx, SPACE, other, id=IndexId("d"), job_id=JobId("job-d"), promote=False, request_id="r", now=NOW
        )
        assert made.id == "d", "other prompts make another index"


def test_a_failed_build_that_is_retried_is_being_built_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        begin(tx)
        end_job(tx, "job-b", failed="for some reason")
        jobs.retry(tx, SPACE, JobId("job-b"), NOW)
        assert index_views.view(tx, stored(tx, B)).state is IndexPhase.BUILDING


def test_the_embedder_that_serves_already_is_refused(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        with pytest.raises(RagstoneError, match="fills the serving index a already"):
            index_building.settle(tx, begin(tx), FIRST)
        changed = EmbedderSpec("mini", "ffff", 384, "", "", 256)
        index_building.settle(tx, stored(tx, B), changed)
        found = indexes.find(tx, B)
        assert found is not None
        assert (found.embedder, found.state) == (changed, IndexPhase.BUILDING)


def test_the_change_log_is_followed_from_where_building_began(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        index_building.settle(tx, begin(tx), SECOND)
        began = stored(tx, B)
        assert (began.seq, indexes.lag(tx, began)) == (1, 0)
        two = ingest(tx, "two")
        first = ingest(tx, "three")
        second = ingest(tx, "three", "changed")
        documents.remove(tx, SPACE, DocumentId("two"), NOW)
        behind = index_building.behind(tx, stored(tx, B), 100)
        assert (behind.seq, behind.changes, behind.more) == (5, 4, False)
        assert behind.live == [second.version_id]
        assert set(behind.dead) == {two.version_id, first.version_id}
        part = index_building.behind(tx, stored(tx, B), 1)
        assert (part.seq, part.more, part.dead) == (2, True, [two.version_id])
        assert index_building.note_followed(tx, B, seq=5, vectors=4, truncated=1)
        assert indexes.lag(tx, stored(tx, B)) == 0


def test_a_retired_index_takes_no_more_notes(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        index_building.settle(tx, begin(tx), SECOND)
        assert index_building.note_built(tx, B, to=ChunkId("x"), vectors=1, truncated=0)
        _, job = switching.retire(tx, SPACE, B, job_id=JobId("drop"), request_id="r", now=NOW)
        assert job is None, "the one that builds it deletes it"
        assert not index_building.note_built(tx, B, to=ChunkId("y"), vectors=2, truncated=0)
        assert not index_building.note_followed(tx, B, seq=9, vectors=2, truncated=0)
        assert not index_building.ready(tx, B, None, None)
        assert indexes.retired(tx) == [], "its job is at it"
        end_job(tx, "job-b")
        assert [row.id for row in indexes.retired(tx)] == ["b"]
        assert indexes.forget(tx, B)
        assert not indexes.forget(tx, A), "it serves"
        assert states(tx) == {"a": "serving"}


def test_lagging_ones_are_named_when_their_last_job_is_over_for_a_while(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        make_ready(tx)
        ingest(tx, "two")
        assert indexes.lagging(tx, later(10)) == []
        (row,) = indexes.lagging(tx, later(31))
        assert (row.id, row.state) == ("b", IndexPhase.READY)
        job = indexes.begin_following(tx, row, id=JobId("f"), request_id="r", now=NOW)
        assert job is not None
        assert indexes.begin_following(tx, row, id=JobId("g"), request_id="r", now=NOW) is None
        assert indexes.lagging(tx, later(3600)) == [], "a job is at it"
        end_job(tx, "f", failed="big is gone", seconds=100)
        assert indexes.lagging(tx, later(200)) == [], "what stopped it would stop the next one as well"
        assert [one.id for one in indexes.lagging(tx, later(800))] == ["b"]
        shown = index_views.view(tx, stored(tx, B))
        assert (shown.state, shown.lag, shown.reason) == (IndexPhase.READY, 1, "big is gone")


def test_the_time_left_comes_from_the_pace(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        ingest(tx, "two", number=18)
        index_building.settle(tx, begin(tx), SECOND)
        assert index_views.view(tx, stored(tx, B)).seconds_left is None
        index_building.note_built(tx, B, to=ChunkId("x"), vectors=5, truncated=2)
        index_building.note_pace(tx, JobId("job-b"), B, 2.5)
        shown = index_views.view(tx, stored(tx, B))
        assert (shown.seconds_left, shown.vectors, shown.truncated) == (6.0, 5, 2)


def test_the_serving_one_is_listed_first_and_spaces_are_apart(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        indexes.create(tx, OTHER, id=IndexId("z"), embedder=FIRST, now=NOW)
        begin(tx)
        assert [index.id for index in index_views.all_of(tx, SPACE)] == ["a", "b"]
        assert [row.id for row in indexes.with_collection(tx)] == ["a", "z"]
        assert indexes.get(tx, OTHER, B) is None
        with pytest.raises(RagstoneError) as unknown:
            switching.found(tx, OTHER, B)
        assert unknown.value.code is ErrorCode.INDEX_NOT_FOUND
