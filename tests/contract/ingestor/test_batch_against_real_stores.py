"""Batches, outages and clean-ups with a real catalog, Chroma and model: what must not take others along."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.ingestor import wiring
from services.ingestor.adapters.ledger import CatalogLedger
from services.ingestor.flow.work import Worker
from services.ingestor.ports.content import Target
from services.ingestor.ports.jobs import BatchStep, ClaimedJob, Outcome
from services.ingestor.ports.tools import Tools
from services.local.ports import free_port
from services.shared.catalog import documents, jobs
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.jobs import JobItem, JobState
from services.shared.models.embedders import Embedders
from tests.contract.ingestor.site import Site


@pytest.fixture
def tools(site: Site, models: Embedders) -> Tools:
    return wiring.tools(site.settings, site.catalog, models)


def _items(site: Site, job: Any) -> list[JobItem]:
    with site.catalog.read() as tx:
        return jobs.items(tx, job, limit=100, cursor=None)[0]


def _text(site: Site, document_id: str) -> str | None:
    with site.catalog.read() as tx:
        live = documents.version(tx, site.space, DocumentId(document_id), None)
    return None if live is None else live.text


def test_values_that_no_database_stores_are_cleaned_and_harm_no_other_line(site: Site, tools: Tools) -> None:
    bad = [
        {"id": "half", "text": '---\ntitle: "x\\ud83d"\nowner: "a\\ud83d"\nnot: "No \\ud83d."\n---\nHello there.'},
        {"id": "zero", "title": "a\0b", "type": "t\0", "tags": ["x\0"], "source": "s\0", "text": "Hello."},
        {"id": "zeros", "metadata": {"k\0": ["a\0b"]}, "origin": "o\0", "text": "Hello."},
        {"id": "front", "text": '---\ntitle: "x\\0y"\ntype: "a\\0"\nb: "\\0"\nc: .nan\nd: .inf\n---\nHello there.'},
    ]
    lines = [json.dumps(one) for one in bad]
    lines.insert(2, '{"id":"nan","metadata":{"a":NaN,"b":[Infinity]},"text":"Hello there."}')
    job = site.send_batch("\n".join([json.dumps({"id": "g", "text": "Good."}), *lines]))
    Worker(tools).answer(job)
    assert [item.state for item in _items(site, job)] == [JobState.SUCCEEDED] * 6, site.job(job).reason
    with site.catalog.read() as tx:
        zero = documents.get(tx, site.space, DocumentId("zero"))
        nan = documents.get(tx, site.space, DocumentId("nan"))
        half = documents.get(tx, site.space, DocumentId("half"))
    assert zero is not None
    assert (zero.title, zero.type, zero.tags, zero.source) == ("ab", "t", ["x"], "s")
    assert nan is not None
    assert nan.metadata == {"a": None, "b": [None]}
    assert half is not None
    assert (half.title, half.metadata) == ("x", {"owner": "a"})


def test_metadata_that_are_too_large_fail_their_line_alone(site: Site, tools: Tools) -> None:
    big = {"id": "big", "metadata": {"k": "x" * 70_000}, "text": "Hello."}
    job = site.send_batch([big, {"id": "g", "text": "Good."}])
    Worker(tools).answer(job)
    first, second = _items(site, job)
    assert first.state == JobState.FAILED
    assert "the limit is 65,536" in (first.reason or "")
    assert second.state == JobState.SUCCEEDED


def test_what_was_sent_or_deleted_after_the_batch_stands(site: Site, tools: Tools) -> None:
    gone = site.send("gone", "Before.")
    Worker(tools).answer(gone)
    names = ("sent", "gone", "same", "only")
    batch = site.send_batch([{"id": name, "text": f"Old {name}."} for name in names])
    for name in ("sent", "same"):
        Worker(tools).answer(site.send(name, f"New {name}.", filename=f"{name}.md"))
    site.delete("gone")
    later = site.send_batch([{"id": "same", "text": "Newest same."}])
    Worker(tools).answer(later)
    Worker(tools).answer(batch)
    states = {item.document_id: item.state for item in _items(site, batch)}
    assert states == dict.fromkeys(names, JobState.CANCELLED) | {"only": JobState.SUCCEEDED}
    assert "sent or deleted again after this batch" in (_items(site, batch)[0].reason or "")
    assert [_text(site, name) for name in names] == ["New sent.", None, "Newest same.", "Old only."]


def test_a_batch_that_reads_its_lines_again_after_a_break_is_not_superseded_by_itself(site: Site, tools: Tools) -> None:
    job = site.send_batch([{"id": "a", "text": "One."}, {"id": "a", "text": "Two."}])

    def broken(*_: object) -> list[VersionId]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Worker(replace(tools, batches=_Recording(tools.batches, broken))).answer(job)
    with site.catalog.write() as tx:
        jobs.reap(tx, max_attempts=9, now=wiring.now(), dead_owners=jobs.running_owners(tx))
    Worker(tools).answer(job)
    assert [item.state for item in _items(site, job)] == [JobState.SUCCEEDED] * 2
    assert _text(site, "a") == "Two."


class _Recording:
    """The real ledger of batches with another ``record``."""

    def __init__(self, real: Any, record: Any) -> None:
        self._real = real
        self.record = record

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_cancellation_during_the_record_ends_the_batch_and_nothing_of_the_group_stays(
    site: Site, tools: Tools
) -> None:
    job = site.send_batch([{"id": f"d{n}", "text": f"Text {n}."} for n in range(3)])

    def record(claimed: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target | None) -> list[VersionId]:
        with site.catalog.write() as tx:
            jobs.request_cancel(tx, site.space, job, wiring.now())
        return tools.batches.record(claimed, steps, total, target)

    Worker(replace(tools, batches=_Recording(tools.batches, record))).answer(job)
    assert site.job(job).state == JobState.CANCELLED
    assert _items(site, job) == []
    assert _text(site, "d0") is None


def test_a_dropped_job_that_nobody_cancelled_is_left_alone(site: Site, tools: Tools) -> None:
    job = site.send("one", "Some text.")
    claimed = tools.ledger.claim(job, 0)
    tools.ledger.drop(claimed[0])
    assert site.job(job).state == JobState.RUNNING


def test_a_clean_up_spares_the_same_document_sent_again(site: Site, tools: Tools) -> None:
    Worker(tools).answer(site.send("d", "Hello world text."))
    cleanup = site.delete("d")
    again = site.send("d", "Hello world text.")

    class CleansBeforeItPublishes(CatalogLedger):
        def publish(self, job: ClaimedJob, prepared: Any, target: Target) -> Outcome:
            Worker(tools).answer(cleanup)
            return tools.ledger.publish(job, prepared, target)

    ledger = CleansBeforeItPublishes(*vars(tools.ledger).values())
    Worker(replace(tools, ledger=ledger)).answer(again)
    assert [site.job(one).state for one in (cleanup, again)] == [JobState.SUCCEEDED] * 2
    assert site.index().count() == len(site.chunk_ids("d")) == 1


def test_jobs_wait_for_a_chroma_that_is_away_and_succeed_when_it_is_back(
    site: Site, models: Embedders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port = free_port()
    site.chroma_url = f"http://127.0.0.1:{port}"
    monkeypatch.setenv("RAGSTONE_CHROMA_URL", site.chroma_url)
    monkeypatch.setenv("RAGSTONE_RING_AFTER_S", "0")
    site.open()
    tools = wiring.tools(site.settings, site.catalog, models)
    waiting = [site.send("one", "Some text."), site.send_batch([{"id": "two", "text": "Other text."}])]
    for job in waiting:
        Worker(tools).answer(job)
        row = site.job(job)
        assert (row.state, row.attempts, row.lease_owner) == (JobState.QUEUED, 1, None)
        assert "Chroma" in (row.reason or "")
    command: list[str | Path] = [
        Path(sys.executable).parent / "chroma",
        "run",
        "--path",
        tmp_path / "late",
        "--host",
        "127.0.0.1",
    ]
    with (tmp_path / "late.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port)], stdout=log, stderr=log, env={**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        )
    try:
        from services.shared.index.chroma import ping

        deadline = time.monotonic() + 60
        while True:
            try:
                ping(site.chroma_url)
                break
            except Exception:
                assert time.monotonic() < deadline, (tmp_path / "late.log").read_text()
                time.sleep(0.2)
        with site.catalog.read() as tx:
            assert {job.id for job in jobs.unrung(tx, older_than=wiring.now(), limit=9)} == set(waiting)
        for job in waiting:
            Worker(tools).answer(job)
            assert (site.job(job).state, site.job(job).reason) == (JobState.SUCCEEDED, None)
        assert site.index().count() == 2
    finally:
        server.terminate()
        server.wait(20)
