"""A mending: the worker makes lost vectors again from the catalog's texts."""

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fakes import TimeUp, World

BEDS = "\n\n".join(f"# Bed {n}\n\nBed number {n} is watered at dawn." for n in range(9))


def _lose(world: World, *documents: str) -> list[VersionId]:
    """The documents' vectors vanish behind our back."""
    versions = [live.version_id for live in map(world.catalog.live, documents) if live]
    world.vectors.delete_versions(SPACE, versions)
    return versions


def test_a_mending_makes_every_lost_vector_again_and_a_second_one_nothing() -> None:
    world = World(group_chunks=4)
    for name in ("one", "two", "three"):
        world.run(name, BEDS + name)
    before = dict(world.vectors.stored)
    versions = _lose(world, "one", "two")
    key = next(key for key, item in world.vectors.stored.items() if item.document_id == "three")
    versions.append(world.vectors.stored.pop(key).version_id)
    lost = len(before) - len(world.vectors.stored)
    for expected in ({"versions": 3, "chunks": lost}, {"versions": 0, "chunks": 0}):
        batches = world.embedder.batches
        job = world.catalog.send_mending(versions)
        world.worker.answer(job)
        assert (world.state(job), world.catalog.results[job]) == (JobState.SUCCEEDED, expected)
        assert world.vectors.stored == before
    assert world.embedder.batches == batches, "nothing was embedded twice"


def test_a_deleted_document_is_not_mended() -> None:
    world = World()
    world.run("one", BEDS)
    versions = _lose(world, "one")
    world.catalog.delete("one")
    job = world.catalog.send_mending(versions)
    world.worker.answer(job)
    assert (world.state(job), world.vectors.stored) == (JobState.SUCCEEDED, {})


def test_a_document_that_is_deleted_while_it_is_mended_leaves_nothing_behind() -> None:
    world = World()
    world.run("one", BEDS)
    versions = _lose(world, "one")
    world.embedder.after_batch = lambda: world.catalog.delete("one")
    job = world.catalog.send_mending(versions)
    world.worker.answer(job)
    assert (world.state(job), world.vectors.stored) == (JobState.SUCCEEDED, {})


def test_one_bad_chunk_keeps_no_other_from_its_vector() -> None:
    world = World()
    world.run("one", BEDS)
    before = set(world.vectors.stored)
    versions = _lose(world, "one")
    world.embedder.fail_on = "number 3"
    job = world.catalog.send_mending(versions)
    world.worker.answer(job)
    assert world.state(job) == JobState.FAILED
    assert "embedding model failed" in (world.catalog.reasons[job] or "")
    assert len(before - set(world.vectors.stored)) == 1


def test_an_outage_puts_the_mending_off_with_its_reason() -> None:
    world = World()
    world.run("one", BEDS)
    versions = _lose(world, "one")
    world.vectors.error = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma is away; start it")
    job = world.catalog.send_mending(versions)
    world.worker.answer(job)
    assert (world.state(job), world.catalog.reasons[job]) == (
        JobState.QUEUED,
        f"mending {job}: Chroma is away; start it",
    )
    assert world.embedder.batches < 20, "the outage was not tried with every chunk"


def test_a_cancelled_mending_stops_within_a_batch_and_keeps_what_it_stored() -> None:
    world = World(group_chunks=1)
    for name in ("one", "two"):
        world.run(name, BEDS + name)
    versions = _lose(world, "one", "two")
    job = world.catalog.send_mending(versions)

    def cancel_at_the_second() -> None:
        if world.vectors.stored:
            world.lease.lost.add(job)

    world.embedder.after_batch = cancel_at_the_second
    world.worker.answer(job)
    assert world.state(job) == JobState.CANCELLED
    assert world.vectors.versions(SPACE) == {versions[0]}


def test_a_mending_over_its_time_fails_and_the_next_one_goes_on_from_there() -> None:
    world = World(group_chunks=1)
    for name in ("one", "two"):
        world.run(name, BEDS + name)
    versions = _lose(world, "one", "two")

    def time_up_at_the_second() -> None:
        if world.vectors.stored:
            raise TimeUp

    world.embedder.after_batch = time_up_at_the_second
    job = world.catalog.send_mending(versions)
    with pytest.raises(TimeUp):
        world.worker.answer(job)
    world.worker.give_up("it took too long")
    assert world.state(job) == JobState.FAILED
    assert world.vectors.versions(SPACE) == {versions[0]}
    world.embedder.after_batch = None
    world.worker.answer(again := world.catalog.send_mending(versions))
    assert world.catalog.results[again]["versions"] == 1
    assert world.vectors.versions(SPACE) == set(versions)


def test_progress_counts_versions() -> None:
    world = World(group_chunks=1)
    for name in ("one", "two"):
        world.run(name, BEDS + name)
    job = world.catalog.send_mending(_lose(world, "one", "two"))

    def second_passes() -> None:
        world.clock.now += 1

    world.embedder.after_batch = second_passes
    world.worker.answer(job)
    notes = [(note.done, note.total) for note in world.catalog.notes if note.job_id == job]
    assert (notes[0], notes[-1]) == ((0, 2), (1, 2))
    assert notes == sorted(notes)
