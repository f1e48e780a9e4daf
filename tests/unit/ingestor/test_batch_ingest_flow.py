"""Batches: each line for itself, resumable, and never in the way of small jobs for long."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.ingestor.ports.content import KeepGoing, Target
from services.ingestor.ports.jobs import BatchStep, ClaimedJob
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fakes import World


class Killed(BaseException):
    """The worker process is gone: nobody handles it."""


def _body(*lines: object) -> str:
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)


def _documents(number: int) -> list[dict[str, str]]:
    return [{"id": f"d{n}", "title": f"Title {n}", "text": f"Text number {n}."} for n in range(number)]


def test_each_line_becomes_a_document() -> None:
    world = World(group_documents=4)
    job = world.catalog.send_batch(world.originals, _body(*_documents(10)))
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.catalog.results[job] == {"documents": 10, "succeeded": 10, "failed": 0, "unchanged": 0}
    assert all(world.catalog.live(f"d{n}") for n in range(10))


def test_a_bad_line_fails_alone_with_its_number_and_reason() -> None:
    world = World()
    body = _body({"id": "a", "text": "Good."}, "{oops", {"id": "b"}, {"id": "c", "text": "Fine.", "colour": 1}, "", {
        "id": " ", "text": "Blank id."}, {"id": "e", "text": "..."}, {"id": "z", "text": "Last."})  # fmt: skip
    job = world.catalog.send_batch(world.originals, body)
    world.worker.answer(job)
    items = world.catalog.items[job]
    assert {n for n, item in items.items() if item.state == JobState.SUCCEEDED} == {1, 8}
    assert {n for n, item in items.items() if item.state == JobState.FAILED} == {2, 3, 4, 6, 7}
    assert all((item.reason or "").startswith(f"line {n}:") for n, item in items.items() if item.reason)
    assert "5 of 7 documents failed" in (world.catalog.warnings[job] or "")


def test_a_missing_id_is_the_same_after_a_retry() -> None:
    world = World()
    job = world.catalog.send_batch(world.originals, _body({"text": "Nameless."}))
    world.worker.answer(job)
    assert world.catalog.live(f"{job}-1") is not None


def test_an_unchanged_document_is_no_work() -> None:
    world = World()
    first = world.catalog.send_batch(world.originals, _body(*_documents(5)))
    world.worker.answer(first)
    world.embedder.batches = 0
    again = world.catalog.send_batch(world.originals, _body(*_documents(5)))
    world.worker.answer(again)
    assert world.embedder.batches == 0
    assert world.catalog.results[again]["unchanged"] == 5


def test_after_the_time_slice_it_goes_back_and_goes_on_where_it_was() -> None:
    world = World(reads_at_once=1, group_documents=2, time_slice_s=20)
    job = world.catalog.send_batch(world.originals, _body(*_documents(9)))
    world.catalog.send_mending([])
    world.embedder.after_batch = lambda: setattr(world.clock, "now", world.clock.now + 12)
    world.worker.answer(job)
    assert world.state(job) == JobState.QUEUED
    assert world.bell.rung == [job]
    assert sorted(world.catalog.items[job]) == [1, 2, 3, 4]
    assert world.catalog.jobs[job].attempts == 0
    while world.state(job) == JobState.QUEUED:
        world.worker.answer(job)
    assert world.catalog.results[job]["succeeded"] == 9


def test_one_document_that_cannot_be_embedded_fails_alone() -> None:
    world = World()
    world.embedder.fail_on = "Text number 3."
    job = world.catalog.send_batch(world.originals, _body(*_documents(6)))
    world.worker.answer(job)
    assert [n for n, item in world.catalog.items[job].items() if item.state == JobState.FAILED] == [4]
    assert not world.vectors.ids("d3")


def test_an_outage_puts_the_batch_off_and_it_goes_on_where_it_was() -> None:
    world = World(group_documents=2)
    job = world.catalog.send_batch(world.originals, _body(*_documents(6)))
    outage = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma does not answer")

    def away() -> None:
        if len(world.catalog.items.get(job, {})) == 2:
            world.vectors.error = outage

    world.embedder.after_batch = away
    world.worker.answer(job)
    assert world.state(job) == JobState.QUEUED
    assert world.bell.rung == [], "it is rung again after a while, not at once"
    assert "Chroma does not answer" in (world.catalog.reasons[job] or "")
    assert sorted(world.catalog.items[job]) == [1, 2], "no document is blamed for the outage"
    world.embedder.after_batch = world.vectors.error = None
    world.worker.answer(job)
    assert world.catalog.results[job]["succeeded"] == 6


def test_an_outage_at_the_last_attempt_fails_the_batch_and_blames_no_line() -> None:
    world = World(group_documents=2)
    job = world.catalog.send_batch(world.originals, _body(*_documents(4)))
    world.vectors.error = RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma does not answer")
    for expected in (JobState.QUEUED, JobState.QUEUED, JobState.FAILED):
        world.worker.answer(job)
        assert world.state(job) == expected
    assert not world.catalog.items.get(job)


def test_a_line_that_kills_its_worker_is_left_behind_at_the_end() -> None:
    world = World(group_documents=4)
    job = world.catalog.send_batch(world.originals, _body(*_documents(6)))

    def deadly(texts: Sequence[str], keep_going: KeepGoing) -> list[list[float]]:
        if any("Text number 2." in text for text in texts):
            raise Killed
        return [[1.0]] * len(texts)

    world.embedder.embed = deadly  # type: ignore[method-assign]
    for _ in range(3):
        with pytest.raises(Killed):
            world.worker.answer(job)
        world.catalog.retry(job)
    assert [item.state for item in world.catalog.items[job].values()] == ["succeeded", "succeeded", "failed"]
    world.worker.answer(job)
    assert world.catalog.results[job] == {"documents": 6, "succeeded": 5, "failed": 1, "unchanged": 0}


def test_the_last_attempt_clears_a_line_that_was_not_at_fault() -> None:
    world = World(group_documents=4)
    job = world.catalog.send_batch(world.originals, _body(*_documents(6)))
    world.catalog.jobs[job] = replace(world.catalog.jobs[job], attempts=2)
    world.worker.answer(job)
    assert world.catalog.results[job]["succeeded"] == 6


def test_only_the_line_that_the_catalog_refuses_fails() -> None:
    world = World()
    job = world.catalog.send_batch(world.originals, _body(*_documents(5)))
    record = world.catalog.record

    def refusing(job: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target | None) -> list[VersionId]:
        if any(step.prepared and step.document_id == "d3" for step in steps):
            raise RagstoneError(ErrorCode.INVALID_REQUEST, "the catalog cannot store a value that was sent")
        return record(job, steps, total, target)

    world.catalog.record = refusing  # type: ignore[method-assign]
    world.worker.answer(job)
    assert {n for n, item in world.catalog.items[job].items() if item.state == JobState.FAILED} == {4}
    assert "line 4: d3: the catalog cannot store" in (world.catalog.warnings[job] or "")
    assert world.vectors.ids("d2")
    assert not world.vectors.ids("d3")


@pytest.mark.parametrize("id", ["/a", "a/", " a", "a/../b", "a/source", "a\tb", "x" * 513])
def test_an_id_that_no_url_can_name_fails_its_line(id: str) -> None:
    world = World()
    job = world.catalog.send_batch(world.originals, _body({"id": id, "text": "Good."}, {"id": "ok", "text": "Good."}))
    world.worker.answer(job)
    assert [item.state for item in world.catalog.items[job].values()] == ["failed", "succeeded"]
    assert "line 1: document id" in (world.catalog.items[job][1].reason or "")


def test_the_same_document_twice_ends_as_the_later_line() -> None:
    world = World()
    body = _body({"id": "a", "text": "First."}, {"id": "a", "text": "Second."}, {"id": "a", "text": "First."})
    job = world.catalog.send_batch(world.originals, body)
    world.worker.answer(job)
    live = world.catalog.live("a")
    assert live is not None
    assert live.text == "First."
    assert world.vectors.versions(SPACE) == {live.version_id}


def test_a_cancelled_batch_keeps_what_is_published() -> None:
    world = World(group_documents=2)
    job = world.catalog.send_batch(world.originals, _body(*_documents(6)))

    def cancel() -> None:
        if len(world.catalog.items.get(job, {})) == 2:
            world.lease.lost.add(job)

    world.embedder.after_batch = cancel
    world.worker.answer(job)
    assert world.state(job) == JobState.CANCELLED
    assert world.catalog.live("d1") is not None
    assert world.catalog.live("d3") is None


def test_a_lost_lease_ends_the_run_quietly() -> None:
    world = World(group_documents=2)
    job = world.catalog.send_batch(world.originals, _body(*_documents(4)))
    world.embedder.after_batch = lambda: world.catalog.stolen.add(job)
    world.worker.answer(job)
    assert world.state(job) == JobState.RUNNING
    assert not world.catalog.items.get(job)


def test_an_empty_batch_succeeds_with_a_warning() -> None:
    world = World()
    job = world.catalog.send_batch(world.originals, "\n\n")
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert world.catalog.warnings[job] == "the batch holds no documents"


def test_an_original_that_is_deleted_before_the_line_is_recorded_is_there_again() -> None:
    """As when another document with the same bytes is deleted at that moment."""
    world = World()
    job = world.catalog.send_batch(world.originals, _body(*_documents(2)))
    texts = [document["text"].encode() for document in _documents(2)]

    def deleted_elsewhere() -> None:
        for sha256, data in list(world.originals.blobs.items()):
            if data == texts[0]:
                del world.originals.blobs[sha256]

    world.catalog.before_publishing = deleted_elsewhere
    world.worker.answer(job)
    assert world.state(job) == JobState.SUCCEEDED
    assert set(texts) <= set(world.originals.blobs.values())
