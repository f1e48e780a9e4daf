"""Real workers under odd conditions: huge documents, slow and breaking models, cancellations, deaths, two at once."""

import os
import re
import signal
from collections.abc import Callable

import pytest

from services.ingestor.wiring import now
from services.shared.catalog import documents, jobs, staging
from services.shared.contracts.ids import ChunkId, DocumentId, JobId, VersionId
from services.shared.contracts.jobs import JobState
from tests.contract.ingestor.site import Site

pytestmark = pytest.mark.slow

ODD = "tests.contract.ingestor.odd_worker"
HUGE = "# Halls\n\n" + "\n\n".join(
    f"Hall {n} holds pump {n}. " + f"It is oiled on day {n % 28} by the team of hall {n}, who write it down. " * 8
    for n in range(140)
)
SMALL = "# Lamps\n\nThe lamp over the gate is changed in June."
SLICES = {"RAGSTONE_GROUP_CHUNKS": "32", "RAGSTONE_TIME_SLICE_S": "1"}


def _version(site: Site, job: JobId) -> tuple[DocumentId, VersionId]:
    draft = documents.Draft.from_payload(site.job(job).payload["draft"])
    return draft.document_id, draft.version_id


def _staged(site: Site, job: JobId) -> list[ChunkId]:
    """Chunks that are saved of the job's version, live or not."""
    with site.catalog.read() as tx:
        return [chunk.id for chunk in staging.saved_chunks(tx, site.space, *_version(site, job))]


def _whole(site: Site, document_id: str) -> None:
    """The document answers, and exactly its chunks have vectors."""
    ids = site.chunk_ids(document_id)
    assert ids
    index = site.index()
    assert index.present([ChunkId(one) for one in ids]) == set(ids)
    assert index.count(VersionId(ids[0].rsplit("-", 1)[0])) == len(ids)


def _embedded(site: Site, job: JobId) -> int:
    return site.job(job).done if site.job(job).stage == "embed" else 0


def test_a_small_document_after_a_huge_one_is_live_within_a_few_slices(site: Site) -> None:
    with site.process("worker", **SLICES):
        huge = site.send("huge", HUGE, ring=True)
        site.until(lambda: _embedded(site, huge) >= 32, 240)
        small = [site.send(f"small{n}", SMALL + str(n), ring=True) for n in range(3)]
        site.wait(small, 120)
        chunks = _staged(site, huge)
        assert site.job(huge).state in (JobState.QUEUED, JobState.RUNNING)
        assert _embedded(site, huge) < len(chunks) - 64, "there is much of it to do still"
        assert site.chunk_ids("huge") == []
        done = site.wait([huge], 240)[0]
    assert (done.state, done.attempts) == (JobState.SUCCEEDED, 1)
    assert len(chunks) == len(site.chunk_ids("huge")) > 130
    _whole(site, "huge")
    assert site.logs().count("embedder_loaded") == 1


def test_a_huge_document_goes_on_after_a_death_and_a_cancellation_leaves_nothing(site: Site) -> None:
    # A cancellation that finds it between two slices leaves its vectors, which hold no words, to the sweep.
    with site.process("reconciler", RAGSTONE_SWEEP_EVERY_S="2", RAGSTONE_SWEEP_GRACE_S="4"):
        with site.process("worker", **SLICES) as worker:
            huge = site.send("huge", HUGE, ring=True)
            site.until(lambda: _embedded(site, huge) >= 64, 240)
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait(10)
        before = site.index().present(_staged(site, huge))
        assert len(before) >= 32
        with site.process("worker", **SLICES):
            site.until(lambda: _embedded(site, huge) > len(before), 240)
            with site.catalog.write() as tx:
                jobs.request_cancel(tx, site.space, huge, now())
            assert site.wait([huge], 30)[0].state == JobState.CANCELLED
            site.until(lambda: _staged(site, huge) == [], 3)
            site.until(lambda: site.index().count() == 0, 30)
            with site.catalog.write() as tx:
                jobs.retry(tx, site.space, huge, now())
            site.bell.ring(site.job(huge).queue, huge, "")
            assert site.wait([huge], 240)[0].state == JobState.SUCCEEDED
    _whole(site, "huge")


def test_a_replacement_that_breaks_at_the_third_batch_leaves_the_old_version(site: Site) -> None:
    """The model fails while the new version is embedded: once within a group, once between slices."""
    flag = site.folder / "breaks"
    for slices in ({}, SLICES):
        with site.process("worker", ODD, **slices, ODD_BREAKS=str(flag)):
            first = site.send("doc", SMALL + str(len(slices)), ring=True)
            site.wait([first], 240)
            before = site.chunk_ids("doc")
            flag.touch()
            second = site.send("doc", HUGE + str(len(slices)), ring=True)
            failed = site.wait([second], 240)[0]
            assert failed.state == JobState.FAILED
            assert "the model broke" in (failed.reason or "")
            assert site.chunk_ids("doc") == before
            assert _staged(site, second) == []
            site.until(lambda before=before: site.index().count() == len(before), 30)  # type: ignore[misc]
            flag.unlink()
            with site.catalog.write() as tx:
                jobs.retry(tx, site.space, second, now())
            site.bell.ring(failed.queue, second, "")
            assert site.wait([second], 240)[0].state == JobState.SUCCEEDED
            _whole(site, "doc")
            assert site.index().count() == len(site.chunk_ids("doc")), "nothing of the old version is left"


def test_a_message_that_comes_again_while_its_job_runs_starts_no_second_run(site: Site) -> None:
    """Redis hands unacknowledged messages out again after two seconds; each job takes far longer."""
    slow = {"ODD_BATCH_S": "0.6", "ODD_VISIBILITY_S": "2", "RAGSTONE_GROUP_JOBS": "1", "RAGSTONE_LEASE_S": "4"}
    text = "\n\n".join(HUGE.split("\n\n")[:50])
    with site.process("reconciler"), site.process("worker", ODD, **slow), site.process("worker", ODD, **slow):
        sent = [site.send(f"doc{n}", text + str(n), ring=True) for n in range(2)]
        site.until(lambda: any(_embedded(site, job) > 8 for job in sent), 240)
        for job in sent * 2:
            site.bell.ring(site.job(job).queue, job, "")
        done = site.wait(sent, 300)
    assert [(job.state, job.attempts) for job in done] == [(JobState.SUCCEEDED, 1)] * 2
    assert len(re.findall("document_published", site.logs())) == 2
    sizes = {len(site.chunk_ids(f"doc{n}")) for n in range(2)}
    assert len(sizes) == 1
    for n in range(2):
        _whole(site, f"doc{n}")


def test_a_cancellation_stops_a_slow_embedding_within_seconds(site: Site) -> None:
    with site.process("worker", ODD, ODD_BATCH_S="0.5"):
        slow = site.send("slow", HUGE, ring=True)
        site.until(lambda: _embedded(site, slow) > 0, 240)
        with site.catalog.write() as tx:
            jobs.request_cancel(tx, site.space, slow, now())
        assert _seconds(site, lambda: site.job(slow).state == JobState.CANCELLED) < 8
        next_one = site.send("next", SMALL, ring=True)
        assert site.wait([next_one], 60)[0].state == JobState.SUCCEEDED
    assert site.chunk_ids("slow") == []
    assert site.index().count() == len(site.chunk_ids("next"))


def _seconds(site: Site, true: Callable[[], bool]) -> float:
    began = now()
    site.until(true, 60)
    return (now() - began).total_seconds()
