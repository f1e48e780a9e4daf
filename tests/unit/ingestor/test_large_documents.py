"""Documents of more chunks than a group: in slices, making way, going on where they were, and never half visible."""

import json
from typing import Any

import pytest

from services.ingestor.flow.slices import LEAST_S
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fakes import TimeUp, World

LONG = "# Beds\n\n" + "\n\n".join(f"Section {n}. The garden team waters bed number {n} at dawn." for n in range(200))
CHUNKS = 15
"""At least so many has it, and a group has 4."""


def _world(**rules: Any) -> World:
    return World(**{"group_chunks": 4, "time_slice_s": 20} | rules)


def _each_batch_takes(world: World, seconds: float) -> None:
    world.embedder.after_batch = lambda: setattr(world.clock, "now", world.clock.now + seconds)


def _whole(world: World, document: str) -> None:
    live = world.catalog.live(document)
    assert live is not None
    assert len(live.chunks) >= CHUNKS
    assert world.vectors.ids(document) == {item.chunk_id for item in live.vector_items}
    assert not world.catalog.saved, "nothing stays staged"


def test_a_large_document_goes_in_slice_by_slice_and_appears_at_once() -> None:
    world = _world()
    seen = []
    world.embedder.after_batch = lambda: seen.append(world.catalog.live("beds"))
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.SUCCEEDED
    assert seen
    assert not any(seen)
    assert world.vectors.upserts > 3
    _whole(world, "beds")


def test_it_makes_way_after_its_time_slice_for_a_small_one_and_does_nothing_twice() -> None:
    world = _world()
    large = world.send("beds", LONG)
    small: list[JobId] = []

    def time_passes() -> None:
        world.clock.now += 12
        if not small:
            small.append(world.send("small", "A small text."))

    world.embedder.after_batch = time_passes
    world.worker.answer(large)
    assert world.state(large) == JobState.QUEUED
    assert world.catalog.jobs[large].attempts == 0
    assert world.bell.rung == [large]
    waits = world.catalog.send_mending([])
    turns = 1
    while world.state(large) == JobState.QUEUED:
        world.worker.answer(large)
        turns += 1
        assert world.state(small[0]) == JobState.SUCCEEDED, "before the large one goes on"
    assert turns > 2
    assert world.bell.rung == [large] * (turns - 1)
    assert world.state(waits) == JobState.QUEUED
    assert world.state(large) == JobState.SUCCEEDED
    _whole(world, "beds")
    live = world.catalog.live("beds")
    assert live is not None
    # One batch of the small one; each chunk of the large one once, in batches of two.
    assert world.embedder.batches == 1 + (len(live.chunks) + 1) // 2


def test_it_makes_way_within_seconds_for_one_that_nobody_began() -> None:
    world = _world(time_slice_s=60)
    large = world.send("beds", LONG)
    small: list[JobId] = []

    def time_passes() -> None:
        world.clock.now += 1
        if not small:
            small.append(world.send("small", "A small text."))

    world.embedder.after_batch = time_passes
    world.worker.answer(large)
    assert world.state(large) == JobState.QUEUED
    assert LEAST_S < world.clock.now < 3 * LEAST_S


def test_nobody_waits_and_it_goes_on_until_the_limit_of_the_task_comes_near() -> None:
    world = _world(time_limit_s=100)
    _each_batch_takes(world, 12)
    large = world.send("beds", LONG)
    world.worker.answer(large)
    assert world.state(large) == JobState.QUEUED
    assert 50 <= world.clock.now < 100


def test_after_a_death_it_goes_on_with_what_is_missing() -> None:
    world = _world()

    def die() -> None:
        if world.embedder.batches == 6:
            raise TimeUp

    world.embedder.after_batch = die
    job = world.send("beds", LONG)
    with pytest.raises(TimeUp):
        world.worker.answer(job)
    stored = set(world.vectors.stored)
    assert stored
    assert world.catalog.live("beds") is None
    world.catalog.retry(job)
    world.embedder.after_batch, world.embedder.batches = None, 0
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    _whole(world, "beds")
    assert world.embedder.batches <= (len(world.vectors.stored) - len(stored) + 1) // 2 + 4


def test_cancelling_between_or_in_slices_ends_it_and_leaves_nothing() -> None:
    world = _world()
    world.run("beds", "The old text.")
    before = set(world.vectors.stored)
    job = world.send("beds", LONG)

    def cancel() -> None:
        if world.embedder.batches == 7:
            world.lease.lost.add(job)

    world.embedder.batches, world.embedder.after_batch = 0, cancel
    world.worker.answer(job)
    assert world.embedder.batches == 7
    assert world.state(job) == JobState.CANCELLED
    assert set(world.vectors.stored) == before
    assert not world.catalog.saved
    assert world.catalog.live("beds") is not None


def test_a_failure_in_the_third_slice_leaves_the_old_version_and_a_retry_succeeds() -> None:
    world = _world()
    world.run("beds", "The old text.")
    before, ids = world.catalog.live("beds"), world.vectors.ids("beds")
    world.embedder.batches, world.embedder.fail_at_batch = 0, 5
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.FAILED
    assert world.catalog.live("beds") is before
    assert world.vectors.ids("beds") == ids
    assert not world.catalog.saved
    world.embedder.fail_at_batch = None
    world.catalog.retry(job)
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    _whole(world, "beds")


def test_an_outage_puts_it_off_and_what_is_stored_stays() -> None:
    world = _world()

    def chroma_goes() -> None:
        if world.embedder.batches == 5:
            world.vectors.error = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma does not answer")

    world.embedder.after_batch = chroma_goes
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.QUEUED
    stored = len(world.vectors.stored)
    assert stored
    world.vectors.error, world.embedder.after_batch, world.embedder.batches = None, None, 0
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.embedder.batches <= (len(world.vectors.stored) - stored + 1) // 2 + 4
    _whole(world, "beds")


def test_vectors_that_an_earlier_failure_left_are_not_taken_for_done() -> None:
    world = _world()
    job = world.send("beds", LONG)
    reference = _world()
    reference.run("beds", LONG)
    # Left over from other chunks under the same ids, such as of another chunk size.
    world.vectors.indexes["one"] = dict(reference.vectors.stored)
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.embedder.batches == reference.embedder.batches, "each chunk was embedded"


def test_two_large_ones_take_turns_and_neither_is_read_twice() -> None:
    world = _world(time_slice_s=5)
    _each_batch_takes(world, 3)
    jobs = [world.send("a", LONG), world.send("b", LONG + "\n\nMore.")]
    turns = 0
    world.worker.answer(jobs[0])
    assert {world.state(job) for job in jobs} == {JobState.QUEUED}
    world.originals.blobs.clear()
    while JobState.QUEUED in {world.state(job) for job in jobs}:
        world.worker.answer(jobs[turns % 2])
        turns += 1
        assert turns < 200
    assert {world.state(job) for job in jobs} == {JobState.SUCCEEDED}
    assert abs(turns) > 4


def test_a_promotion_between_the_slices_makes_all_of_it_anew_for_the_new_index() -> None:
    world = _world()

    def promote() -> None:
        if world.embedder.batches == 5:
            world.vectors.serving = "other"

    world.embedder.after_batch = promote
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.SUCCEEDED
    _whole(world, "beds")


def test_a_large_line_of_a_batch_makes_way_and_goes_on_within_itself() -> None:
    world = _world()
    _each_batch_takes(world, 6)
    lines = [{"id": "a", "text": "Small one."}, {"id": "beds", "text": LONG}, {"id": "z", "text": "Small two."}]
    job = world.catalog.send_batch(world.originals, "\n".join(json.dumps(line) for line in lines))
    waiting = world.catalog.send_mending([])
    turns = 0
    while world.state(job) == JobState.QUEUED:
        world.worker.answer(job)
        turns += 1
        assert turns < 50
        assert world.catalog.live("z") is None or world.catalog.live("beds") is not None
    assert turns > 2
    assert world.catalog.results[job]["succeeded"] == 3
    assert world.state(waiting) == JobState.QUEUED
    _whole(world, "beds")
    live = world.catalog.live("beds")
    assert live is not None
    assert world.embedder.batches <= (len(live.chunks) + 1) // 2 + 2 + turns, "no chunk twice"


def test_a_large_line_that_cannot_be_embedded_fails_alone() -> None:
    world = _world()
    world.embedder.fail_on = "bed number 150"
    lines = [{"id": "a", "text": "Small one."}, {"id": "beds", "text": LONG}, {"id": "z", "text": "Small two."}]
    job = world.catalog.send_batch(world.originals, "\n".join(json.dumps(line) for line in lines))
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.catalog.results[job]["failed"] == 1
    assert (world.catalog.warnings[job] or "").endswith("retry the job")
    assert world.catalog.live("beds") is None
    assert world.vectors.versions(SPACE) == {
        one.version_id for one in (world.catalog.live("a"), world.catalog.live("z")) if one
    } | {item.version_id for item in world.vectors.stored.values() if item.document_id == "beds"}


def test_a_slow_model_gets_small_slices() -> None:
    world = _world(group_chunks=512)
    _each_batch_takes(world, 8)
    world.worker.answer(world.send("beds", LONG))
    assert world.worker._pace.most == world.worker._pace.FIRST // 4
