"""Lost vectors: the reconciler finds them at two looks, the worker makes them again from the catalog."""

from collections.abc import Callable

import pytest

from services.ingestor.domain.documents import VectorItem
from services.ingestor.domain.lost import CHUNKS_IN_JOB, VERSIONS_IN_JOB, missing_vectors, share_of_one_job
from services.ingestor.flow.reconcile import CLOSE_LOOK_S, Reconciler
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, VersionId, chunk_id
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fakes import FakeBell, FakeClock, FakeHousekeeping, FakeVectors, TimeUp, World

A, B = VersionId("a"), VersionId("b")
BEDS = "\n\n".join(f"# Bed {n}\n\nBed number {n} is watered at dawn." for n in range(9))


class Watch:
    """A reconciler over a space whose versions a and b have two chunks each."""

    def __init__(self) -> None:
        self.house, self.vectors, self.bell, self.clock = FakeHousekeeping(), FakeVectors(), FakeBell(), FakeClock()
        self.house.live = {A: 2, B: 2}
        for version in (A, B):
            self.store(version, 2)
        self.flow = Reconciler(self.house, self.vectors, self.bell, self.clock, sweep_grace_s=900, mend_grace_s=30)
        self.look_at(0)

    def store(self, version: VersionId, chunks: int) -> None:
        items = [VectorItem(chunk_id(version, n), DocumentId("d"), version, None, [], "fact") for n in range(chunks)]
        self.vectors.upsert(SPACE, items, [[1.0]] * chunks)

    def look_at(self, seconds: float) -> list[list[VersionId]]:
        """Jobs made so far."""
        self.clock.now = seconds
        self.flow.look_for_lost_vectors()
        self.flow.mend_vectors()
        return self.house.mended


def test_a_healthy_space_is_counted_and_seldom_read() -> None:
    watch = Watch()
    assert watch.vectors.close_looks == 1, "at the start it is read, whatever the count says"
    for seconds in (60, 120, 180):
        assert watch.look_at(seconds) == []
    assert watch.vectors.close_looks == 1
    watch.look_at(CLOSE_LOOK_S)
    assert watch.vectors.close_looks == 2


def test_a_version_that_is_missing_twice_is_mended_and_rung_for() -> None:
    watch = Watch()
    watch.vectors.delete_versions(SPACE, [A])
    assert watch.look_at(60) == []
    assert watch.look_at(80) == []
    assert watch.look_at(91) == [[A]]
    assert watch.bell.rung == watch.house.noted == ["mend-1"]


def test_a_version_that_lacks_some_vectors_is_mended() -> None:
    watch = Watch()
    del watch.vectors.stored[SPACE, chunk_id(B, 1)]
    watch.look_at(60)
    assert watch.look_at(120) == [[B]]


def test_a_loss_that_left_overs_hide_from_the_count_is_found_in_the_end() -> None:
    watch = Watch()
    watch.vectors.delete_versions(SPACE, [A])
    watch.store(VersionId("orphan"), 5)
    assert watch.look_at(60) == watch.look_at(120) == []
    watch.look_at(CLOSE_LOOK_S)
    assert watch.look_at(CLOSE_LOOK_S + 60) == [[A]]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda watch: watch.store(A, 2),
        lambda watch: watch.house.live.pop(A),
        lambda watch: watch.house.working.add(A),
    ],
    ids=["it came back", "it was deleted", "a job is about it"],
)
def test_what_needs_no_mending_any_more_is_left_alone(meanwhile: Callable[[Watch], None]) -> None:
    watch = Watch()
    watch.vectors.delete_versions(SPACE, [A])
    watch.look_at(60)
    meanwhile(watch)
    assert watch.look_at(120) == watch.look_at(180) == []


def test_one_job_at_a_time_takes_a_share_of_a_large_loss() -> None:
    watch = Watch()
    watch.house.live = {VersionId(f"v{n:04d}"): 1 for n in range(VERSIONS_IN_JOB + 1)}
    watch.look_at(60)
    watch.house.busy = True
    assert watch.look_at(120) == [], "another mending is at work"
    watch.house.busy = False
    watch.flow.mend_vectors()
    watch.flow.mend_vectors()
    watch.flow.mend_vectors()
    assert [len(job) for job in watch.house.mended] == [VERSIONS_IN_JOB, 1]
    assert len({version for job in watch.house.mended for version in job}) == VERSIONS_IN_JOB + 1


def test_a_job_takes_about_its_measure_of_chunks_and_at_least_one_version() -> None:
    assert share_of_one_job({A: CHUNKS_IN_JOB * 5, B: 1}) == [A]
    assert share_of_one_job({A: 1, B: CHUNKS_IN_JOB}) == [A]
    assert share_of_one_job({A: 1, B: CHUNKS_IN_JOB - 1}) == [A, B]
    assert share_of_one_job({}) == []


def test_versions_without_chunks_or_with_more_vectors_lack_nothing() -> None:
    assert missing_vectors({A: 0, B: 2}, {B: 3}, set()) == {}


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
