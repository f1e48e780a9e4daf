"""Filling an index beside the serving one: resumable, making way, and level in the end."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.index_world import IndexWorld, in_turn, to_be_promoted, world_of

GROUP = 20
"""Texts that the model embeds in two seconds."""


def test_every_live_chunk_is_embedded_once_by_the_new_model_and_compared() -> None:
    world = world_of()
    job_id = world.build()
    assert world.state(job_id) is JobState.SUCCEEDED
    assert world.vectors.ids_of("two") == world.content.ids()
    assert len(world.model.texts) == 60
    assert set(world.embedders.asked) == {"two"}
    assert world.vectors.ids_of("one") == set(), "the serving one is left alone"
    assert (world.records.now.phase, world.records.serves) == (IndexPhase.READY, "one")
    assert (world.records.now.vectors, world.records.now.built_to) == (60, None)
    comparison = world.records.now.comparison
    assert comparison is not None
    assert (comparison.questions, comparison.golden, comparison.worse) == (40, "own", False)
    result = world.catalog.results[job_id]
    assert (result["index_id"], result["state"], result["vectors"], result["worse"]) == ("two", "ready", 60, False)


def test_progress_is_told_with_the_total_and_a_pace() -> None:
    world = world_of(20)
    world.build()
    embedding = [note for note in world.catalog.notes if note.stage == "embed"]
    assert {note.total for note in embedding} == {200}
    assert [note.done for note in embedding] == sorted(note.done for note in embedding)
    assert world.records.paces[-1] == pytest.approx(10)


def test_groups_are_as_large_as_the_model_is_quick() -> None:
    world = world_of(40)
    world.model.seconds = 0.02
    world.build()
    assert world.vectors.upserts == pytest.approx(1 + (400 - 16) / 100, abs=1)


def test_chunks_longer_than_the_model_reads_are_counted() -> None:
    world = world_of()
    world.content.publish("long", 3, words=400)
    world.build()
    assert world.records.now.truncated == 3


def test_an_embedder_that_cannot_be_loaded_fails_at_once_by_its_name() -> None:
    world = world_of()
    detail = "The embedder 'no-such' cannot be used: it is not here. Install it."
    world.records.load_error = RagstoneError(ErrorCode.MODEL_UNAVAILABLE, detail)
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.FAILED
    assert "'no-such'" in str(world.catalog.reasons[job_id])
    assert "Install it" in str(world.catalog.reasons[job_id])


def test_a_catalog_that_is_away_puts_the_loading_off() -> None:
    world = world_of()
    world.records.load_error = RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "it is away")
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.QUEUED


def test_what_changed_while_it_was_built_is_followed() -> None:
    world = world_of()
    world.model.after_batch = in_turn(
        lambda: world.content.publish("d0", 4),
        lambda: world.content.remove("d1"),
        lambda: world.content.publish("new", 3),
        lambda: world.content.publish("d0", 2),
    )
    world.build()
    assert world.vectors.ids_of("two") == world.content.ids()
    assert world.records.seq == len(world.content.changes)


def test_a_document_that_is_deleted_while_it_is_embedded_leaves_no_vector() -> None:
    world = world_of(1)

    def delete() -> None:
        if world.content.of_document:
            world.content.remove("d0")

    world.model.after_batch = delete
    job_id = world.order()
    # Right behind the first group, whose vectors were stored after the deletion: nothing has followed it yet.
    world.fuse.at = 8
    assert world.dies(job_id)
    assert world.vectors.upserts == 1
    assert world.vectors.ids_of("two") == set()


def test_it_makes_way_for_documents_almost_at_once_and_for_others_after_its_slice() -> None:
    world = world_of(10)
    job_id = world.order()
    world.catalog.waiting = True
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.QUEUED
    assert world.bell.rung == [job_id]
    assert world.clock.now < 5
    world.catalog.waiting = False
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.SUCCEEDED, "10 s of work are less than a slice"
    assert len(world.model.texts) == 100, "nothing twice"


def test_a_long_build_takes_many_slices_and_embeds_nothing_twice() -> None:
    world = world_of(60, time_slice_s=5.0)
    world.build()
    assert len(world.bell.rung) >= 10
    assert len(world.model.texts) == 600
    assert world.vectors.ids_of("two") == world.content.ids()


def test_cancelling_stops_while_it_embeds_and_another_job_goes_on() -> None:
    world = world_of()
    job_id = world.order()
    calls = 0

    def cancel() -> None:
        nonlocal calls
        calls += 1
        if calls == 12:
            world.lease.lost.add(job_id)

    world.model.after_batch = cancel
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.CANCELLED
    assert world.records.now.phase is IndexPhase.BUILDING
    done = len(world.model.texts)
    assert 0 < done < 60
    world.model.after_batch = None
    world.build()
    assert len(world.model.texts) == 60
    assert world.vectors.ids_of("two") == world.content.ids()


def _uncut(prepared: Callable[[], IndexWorld]) -> tuple[int, int]:
    """How many moments there are to die at, and how many texts are embedded without that."""
    world = prepared()
    world.build()
    return world.fuse.calls, len(world.model.texts)


def test_a_power_cut_at_any_moment_costs_one_group_at_most_and_ends_in_the_same_state() -> None:
    moments, texts = _uncut(to_be_promoted)
    assert moments > 20
    for moment in range(1, moments + 1):
        world = to_be_promoted()
        job_id = world.order()
        world.fuse.at = moment
        assert world.dies(job_id), moment
        served = world.records.serves
        assert served == "one" or world.vectors.ids_of("two") == world.content.ids(), "never half-built"
        # A restart of the worker is no poison: the job's attempts are the catalog's matter.
        world.catalog.jobs[job_id] = replace(world.catalog.jobs[job_id], attempts=0)
        world.build(job_id)
        assert world.state(job_id) is JobState.SUCCEEDED, moment
        assert world.records.serves == "two"
        assert world.vectors.ids_of("two") == world.content.ids(), moment
        assert len(world.model.texts) <= texts + GROUP, moment


def test_a_failure_of_the_model_fails_the_job_and_a_retry_goes_on() -> None:
    world = world_of()
    world.model.fail_at_batch = 15
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.FAILED
    assert "index two" in str(world.catalog.reasons[job_id])
    assert (world.records.now.phase, world.records.serves) == (IndexPhase.BUILDING, "one")
    world.catalog.retry(job_id)
    world.build(job_id)
    assert _phase(world) is IndexPhase.READY
    assert len(world.model.texts) == 60


def test_a_vector_store_that_is_away_puts_it_off() -> None:
    world = world_of()
    world.vectors.error = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma is away")
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.QUEUED


def test_vectors_that_the_store_lost_are_made_again() -> None:
    world = world_of()
    world.rankings.after = lambda: world.vectors.indexes["two"].clear()
    world.build()
    assert world.vectors.ids_of("two") == set()
    world.rankings.after = lambda: None
    world.build()
    assert world.vectors.ids_of("two") == world.content.ids()


def test_an_index_that_is_level_does_nothing() -> None:
    world = world_of()
    world.build()
    embedded, asked = len(world.model.texts), len(world.rankings.asked)
    world.build()
    assert (len(world.model.texts), len(world.rankings.asked)) == (embedded, asked)


def test_one_that_lags_follows_only() -> None:
    world = world_of()
    world.build()
    world.content.publish("d0", 4)
    world.content.remove("d1")
    world.build()
    assert len(world.model.texts) == 64
    assert world.vectors.ids_of("two") == world.content.ids()


def test_a_version_that_came_back_is_embedded_again_whatever_is_there() -> None:
    world = world_of(1)
    world.build()
    version = world.content.of_document["d0"]
    cut_anew = [replace(chunk, search_text=f"anew {chunk.search_text}") for chunk in world.content.live[version]]
    world.content.live[version] = cut_anew
    world.content.changes.append((version, None))
    world.build()
    assert world.model.texts[-10:] == [chunk.search_text for chunk in cut_anew]


def test_a_huge_document_is_followed_over_several_slices() -> None:
    world = world_of(1, time_slice_s=5.0)
    world.build()
    world.content.publish("huge", 400)
    world.bell.rung.clear()
    world.build()
    assert len(world.bell.rung) >= 4
    assert len(world.model.texts) == 410
    assert world.vectors.ids_of("two") == world.content.ids()


def _phase(world: IndexWorld) -> IndexPhase:
    return world.records.now.phase
