"""Documents on their way in: each succeeds or fails for itself, and the old version answers until the new one does."""

import pytest

from services.ingestor.flow.progress import Progress
from services.ingestor.ports.jobs import ProgressNote
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fake_catalog import SPACE, FakeCatalog
from tests.unit.ingestor.fakes import TimeUp, World

LONG = "# Beds\n\n" + "\n\n".join(f"Section {n}. The garden team waters bed number {n} at dawn." for n in range(120))
SHORT = "# Beds\n\n" + "\n\n".join(f"Section {n}. The garden team waters bed number {n} at dawn." for n in range(20))


def test_a_document_is_published_with_its_vectors() -> None:
    world = World()
    job = world.run("beds", SHORT)
    live = world.catalog.live("beds")
    assert world.state(job) == JobState.SUCCEEDED
    assert live is not None
    assert world.vectors.ids("beds") == {item.chunk_id for item in live.vector_items}
    assert world.catalog.results[job] == {"version": live.version_id, "chunks": len(live.chunks)}


def test_a_shorter_version_leaves_nothing_of_the_longer_one() -> None:
    world = World()
    world.run("beds", LONG)
    world.run("beds", SHORT)
    alone = World()
    alone.run("beds", SHORT)
    assert world.vectors.ids("beds") == alone.vectors.ids("beds")


def test_a_failing_embedder_leaves_the_old_version_and_no_left_overs() -> None:
    world = World()
    world.run("beds", SHORT)
    before, ids = world.catalog.live("beds"), world.vectors.ids("beds")
    world.embedder.batches, world.embedder.fail_at_batch = 0, 3
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.FAILED
    assert "beds.md" in (world.catalog.reasons[job] or "")
    assert world.catalog.live("beds") is before
    assert world.vectors.ids("beds") == ids
    world.embedder.fail_at_batch = None
    world.catalog.retry(job)
    world.worker.answer(job)
    live = world.catalog.live("beds")
    assert world.state(job) == JobState.SUCCEEDED
    assert live is not None
    assert world.vectors.versions(SPACE) == {live.version_id}


def test_a_broken_file_fails_alone_with_its_name() -> None:
    world = World()
    jobs = [world.send("one", "Good text."), world.send("bad", "BROKEN"), world.send("two", "Also good.")]
    world.worker.answer(jobs[0])
    assert [world.state(job) for job in jobs] == [JobState.SUCCEEDED, JobState.FAILED, JobState.SUCCEEDED]
    assert world.catalog.reasons[jobs[1]] == "bad.md cannot be read: it is broken"


def test_one_document_that_cannot_be_embedded_fails_alone() -> None:
    world = World()
    world.embedder.fail_on = "poison"
    jobs = [world.send("one", "Good text."), world.send("bad", "Some poison here."), world.send("two", "Also good.")]
    world.worker.answer(jobs[0])
    assert [world.state(job) for job in jobs] == [JobState.SUCCEEDED, JobState.FAILED, JobState.SUCCEEDED]
    assert not world.vectors.ids("bad")


def test_a_vector_store_that_is_away_puts_the_job_off_and_fails_it_in_the_end() -> None:
    world = World()
    world.vectors.error = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma does not answer; is it running?")
    job = world.run("one", "Good text.")
    for expected in (JobState.QUEUED, JobState.QUEUED, JobState.FAILED):
        assert world.state(job) == expected
        world.worker.answer(job)
    assert world.bell.rung == []
    assert world.catalog.reasons[job] == "one.md: Chroma does not answer; is it running?"
    assert world.catalog.live("one") is None


def test_a_failing_publication_takes_the_vectors_back() -> None:
    world = World()
    world.catalog.publish_error = RagstoneError(ErrorCode.INVALID_REQUEST, "the catalog cannot store a value")
    job = world.run("one", "Good text.")
    assert world.state(job) == JobState.FAILED
    assert not world.vectors.stored


def test_a_failed_job_never_takes_the_live_versions_vectors() -> None:
    world = World()
    world.run("one", "Good text.")
    ids = world.vectors.ids("one")
    world.embedder.fail_on = "Good"
    job = world.run("one", "Good text.")
    assert world.state(job) == JobState.FAILED
    assert world.vectors.ids("one") == ids


def test_a_deletion_meanwhile_cancels_the_job_and_takes_the_vectors_back() -> None:
    world = World()
    job = world.send("one", "Good text.")
    world.embedder.after_batch = lambda: world.catalog.delete("one")
    world.worker.answer(job)
    assert world.state(job) == JobState.CANCELLED
    assert world.catalog.reasons[job] == "one.md: a deletion of the document came first"
    assert not world.vectors.stored


def test_an_older_revision_that_comes_later_is_cancelled() -> None:
    world = World(group_jobs=1)
    old, new = world.send("one", "Old text."), world.send("one", "New text.")
    world.worker.answer(new)
    world.worker.answer(old)
    live = world.catalog.live("one")
    assert world.state(old) == JobState.CANCELLED
    assert world.catalog.reasons[old] == "one.md: a newer version of the document came first"
    assert live is not None
    assert live.text == "New text."


def test_two_versions_of_a_document_in_one_group_go_in_one_after_the_other() -> None:
    world = World()
    jobs = [world.send("one", "First."), world.send("one", "Second."), world.send("one", "First.")]
    world.worker.answer(jobs[0])
    live = world.catalog.live("one")
    assert [world.state(job) for job in jobs] == [JobState.SUCCEEDED] * 3
    assert live is not None
    assert live.text == "First."
    assert world.vectors.versions(SPACE) == {live.version_id}


def test_a_lost_lease_leaves_everything_to_the_new_owner() -> None:
    world = World()
    job = world.send("one", "Good text.")
    world.embedder.after_batch = lambda: world.catalog.stolen.add(job)
    world.worker.answer(job)
    assert world.state(job) == JobState.RUNNING
    assert world.catalog.live("one") is None


def test_a_cancellation_stops_the_embedding_within_one_batch() -> None:
    world = World()
    job = world.send("beds", LONG)

    def cancel() -> None:
        if world.embedder.batches == 2:
            world.lease.lost.add(job)

    world.embedder.after_batch = cancel
    world.worker.answer(job)
    assert world.embedder.batches == 2
    assert world.state(job) == JobState.CANCELLED
    assert world.catalog.reasons[job] == "cancelled on request"
    assert not world.vectors.stored


def test_a_cancelled_job_does_not_stop_its_group() -> None:
    world = World()
    jobs = [world.send("one", "Good text."), world.send("two", "Also good.")]
    world.embedder.after_batch = lambda: world.lease.lost.add(jobs[0])
    world.worker.answer(jobs[0])
    assert [world.state(job) for job in jobs] == [JobState.CANCELLED, JobState.SUCCEEDED]
    assert not world.vectors.ids("one")


def test_too_many_chunks_is_a_reason_with_both_numbers() -> None:
    world = World(max_chunks=3)
    job = world.run("beds", LONG)
    assert world.state(job) == JobState.FAILED
    assert "the limit is 3" in (world.catalog.reasons[job] or "")


def test_what_does_not_fit_into_the_time_slice_goes_back_and_is_rung_for() -> None:
    world = World(reads_at_once=1)
    jobs = [world.send(f"d{n}", f"Text {n}.") for n in range(4)]
    world.embedder.after_batch = lambda: setattr(world.clock, "now", world.clock.now + 15)
    world.worker.answer(jobs[0])
    # The first document ends after 15 s, the second after 30 s; the others are not begun any more.
    assert [world.state(job) for job in jobs] == [JobState.SUCCEEDED] * 2 + [JobState.QUEUED] * 2
    assert world.bell.rung == jobs[2:]


def test_a_job_that_was_begun_before_runs_alone() -> None:
    world = World()
    jobs = [world.send("one", "Good text."), world.send("killer", "HANGS"), world.send("two", "Also good.")]
    with pytest.raises(TimeUp):
        world.worker.answer(jobs[0])
    world.worker.give_up("it took too long")
    assert JobState.FAILED not in world.catalog.states.values(), "nobody knows whose fault it was"
    for job in jobs:
        world.catalog.retry(job)
    world.worker.answer(jobs[0])
    world.worker.answer(jobs[2])
    assert [world.state(job) for job in (jobs[0], jobs[2])] == [JobState.SUCCEEDED] * 2
    with pytest.raises(TimeUp):
        world.worker.answer(jobs[1])
    world.worker.give_up("it took too long")
    assert world.state(jobs[1]) == JobState.FAILED
    assert world.catalog.reasons[jobs[1]] == "it took too long"


def test_documents_that_come_while_others_are_embedded_go_in_without_a_bell() -> None:
    world = World(reads_at_once=1, group_jobs=1)
    first = world.send("d0", "Text 0.")
    sent: list[JobId] = []

    def send_another() -> None:
        if len(sent) < 3:
            sent.append(world.send(f"d{len(sent) + 1}", f"Text {len(sent) + 1}."))

    world.embedder.after_batch = send_another
    world.worker.answer(first)
    assert [world.state(job) for job in (first, *sent)] == [JobState.SUCCEEDED] * 4


def test_a_document_is_embedded_again_for_the_index_that_was_promoted_meanwhile() -> None:
    world = World()
    jobs = [world.send("one", "Good text."), world.send("two", "Also good.")]

    def promote() -> None:
        world.vectors.serving = "other"

    world.catalog.before_publishing = promote
    world.worker.answer(jobs[0])
    assert [world.state(job) for job in jobs] == [JobState.SUCCEEDED] * 2
    for name in ("one", "two"):
        live = world.catalog.live(name)
        assert live is not None
        assert {item.chunk_id for item in live.vector_items} == world.vectors.ids(name), "in the index that serves"
    assert world.embedders.asked[-1] == "other"


def test_an_index_that_was_taken_out_while_it_was_written_for_is_left_alone() -> None:
    world = World()
    job = world.send("one", "Good text.")

    def promote() -> None:
        world.vectors.serving = "other"
        world.vectors.retired.add("one")

    world.embedder.after_batch = promote
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert not world.vectors.indexes["one"]
    assert world.vectors.ids("one")


def test_progress_is_told_at_most_twice_a_second() -> None:
    world = World()
    progress = Progress(world.catalog, world.clock)
    job = world.send("one", "text")
    for tenth in range(30):
        world.clock.now = tenth / 10
        progress.say([ProgressNote(job, "embed", tenth, 30)])
    assert [note.done for note in world.catalog.notes] == [5, 10, 15, 20, 25]


def test_cleanup_deletes_the_named_versions_but_never_a_live_one() -> None:
    world = World()
    world.run("one", "Old text.")
    old = world.catalog.live("one")
    world.run("two", "Other text.")
    world.catalog.delete("one")
    kept = world.catalog.live("two")
    assert old is not None
    assert kept is not None
    job = world.catalog.send_cleanup([old.version_id, kept.version_id])
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.vectors.versions(SPACE) == {kept.version_id}


def test_an_unknown_or_finished_job_is_no_work() -> None:
    world = World()
    job = world.run("one", "Good text.")
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert isinstance(world.catalog, FakeCatalog)
