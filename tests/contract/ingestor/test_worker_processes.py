"""Real worker processes: forking, replacing children, and being killed in the middle of the work."""

import os
import signal
from pathlib import Path

import pytest

from services.shared.contracts.jobs import JobState
from services.shared.kit.presence import present
from tests.contract.ingestor.site import Site

pytestmark = pytest.mark.slow

TEXT = "# Pumps\n\n" + "\n\n".join(
    f"Pump {n} stands in hall {n} and is oiled on day {n} of the month." for n in range(30)
)


def test_two_forked_children_embed_and_are_replaced_after_each_task(site: Site) -> None:
    more = {"RAGSTONE_WORKER_CONCURRENCY": "2", "RAGSTONE_WORKER_TASKS_PER_CHILD": "1", "RAGSTONE_GROUP_JOBS": "1"}
    more["RAGSTONE_EMBEDDER_BACKEND"] = "torch"  # whose threads are what a fork could hang on
    with site.process("worker", **more) as worker:
        first = [site.send(f"a{n}", TEXT + str(n), ring=True) for n in range(2)]
        assert {job.state for job in site.wait(first, 240)} == {JobState.SUCCEEDED}
        second = [site.send("b", TEXT, ring=True)]
        assert {job.state for job in site.wait(second, 240)} == {JobState.SUCCEEDED}
        assert present("worker", site.settings.redis) == 1
        assert "torch" not in Path(f"/proc/{worker.pid}/maps").read_text(), "the parent holds no model"
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    log = site.logs()
    # A task takes on what waits meanwhile, so there are fewer of them than jobs; each round needs new children.
    assert 2 <= log.count("embedder_loaded") <= 3, "each child loads the model for itself"
    assert "fork" not in log.lower().replace("prefork", "").replace("forkpool", "")


def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(site: Site) -> None:
    records = [{"id": f"d{n}", "text": TEXT + str(n)} for n in range(48)]
    more = {"RAGSTONE_GROUP_DOCUMENTS": "8"}
    with site.process("reconciler"):
        with site.process("worker", **more) as worker:
            batch = site.send_batch(records, ring=True)
            site.until(lambda: 0 < site.job(batch).done < 40, 240)
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait(10)
        interrupted = site.job(batch)
        assert interrupted.state in (JobState.RUNNING, JobState.QUEUED), "queued: it had made way after its time slice"
        assert interrupted.done < 48
        with site.process("worker", **more):
            single = site.send("single", TEXT, ring=True)
            done, alone = site.wait([batch, single], 300)
    assert (done.state, alone.state) == (JobState.SUCCEEDED, JobState.SUCCEEDED)
    assert done.attempts >= (2 if interrupted.state == JobState.RUNNING else 1)
    assert done.result == {"documents": 48, "succeeded": 48, "failed": 0, "unchanged": done.result["unchanged"]}  # type: ignore[index]
    chunks = sum(len(site.chunk_ids(f"d{n}")) for n in range(48)) + len(site.chunk_ids("single"))
    assert site.index().count() == chunks
    assert all(site.chunk_ids(f"d{n}") for n in range(48))


def test_messages_that_redis_lost_are_rung_again(site: Site) -> None:
    job = site.send("one", "Some text.", ring=True)
    site.redis.flushall()
    with site.process("reconciler"), site.process("worker"):
        assert site.wait([job], 240)[0].state == JobState.SUCCEEDED


def test_a_task_over_its_time_fails_with_a_clear_reason(site: Site) -> None:
    long_text = "\n\n".join(
        f"Paragraph {n}: " + "the quick brown fox jumps over the lazy dog. " * 15 for n in range(3000)
    )
    # In slices of the usual size it would make way before the limit.
    with site.process("worker", RAGSTONE_JOB_TIME_LIMIT_S="15", RAGSTONE_GROUP_CHUNKS="100000"):
        job = site.send("endless", long_text, ring=True)
        failed = site.wait([job], 240)[0]
        assert failed.state == JobState.FAILED
        assert "took longer than 15 seconds" in (failed.reason or "")
        after = site.send("next", "A small text.", ring=True)
        assert site.wait([after], 240)[0].state == JobState.SUCCEEDED
    assert site.chunk_ids("endless") == []


def test_a_worker_that_could_not_acknowledge_a_message_hears_the_next_one(site: Site, tmp_path: Path) -> None:
    with site.process("worker", "tests.contract.ingestor.odd_worker", ODD_ACK=str(tmp_path / "failed")) as worker:
        first = site.send("one", "Some text.", ring=True)
        assert site.wait([first], 60)[0].state == JobState.SUCCEEDED
        second = site.send("two", "Another text.", ring=True)
        assert site.wait([second], 60)[0].state == JobState.SUCCEEDED
        assert worker.poll() is None, "it is the same process, started again in its place"
    assert "Couldn't ack" in site.logs()
    assert site.logs().count("worker_deaf") == 1
