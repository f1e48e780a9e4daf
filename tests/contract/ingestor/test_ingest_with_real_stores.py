"""The flows with a real catalog, Chroma and model, in this process."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from services.ingestor import wiring
from services.ingestor.flow.work import Worker
from services.ingestor.ports.content import Embedders, KeepGoing, Target
from services.ingestor.ports.tools import Tools
from services.shared.catalog import documents, indexes, jobs, schema
from services.shared.catalog.holding import Heartbeats
from services.shared.catalog.indexes import IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId
from services.shared.contracts.jobs import JobState
from services.shared.index.chroma import VectorIndex
from services.shared.models import embedders as shared
from tests.contract.ingestor.site import Site

CASES = Path(__file__).parents[4] / "shared" / "cases" / "files"


def _beds(number: int, last: str = "") -> str:
    lines = [f"Section {n}. The garden team waters bed number {n} at dawn." for n in range(1, number)]
    return "# Beds\n\n" + "\n\n".join([*lines, last]) + "\n"


LONG = _beds(120, "The very last line says the code word is marigold.")
SHORT = _beds(21)


class FailingEmbedder:
    """The real models behind a door that breaks at the third batch while ``broken``."""

    def __init__(self, real: Embedders) -> None:
        self._models = real
        self.broken = True

    def of(self, target: Target) -> "FailingEmbedder":
        self._real = self._models.of(target)
        return self

    def max_tokens(self) -> int:
        return int(self._real.max_tokens())

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return list(self._real.count_tokens(texts))

    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Any:
        batches = 0

        def third_breaks(done: int) -> bool:
            nonlocal batches
            batches += 1
            if self.broken and batches == 3:
                raise RagstoneError(ErrorCode.INTERNAL, "the embedding model failed (RuntimeError); retry the job")
            return keep_going(done)

        return self._real.embed([text for text in texts for _ in range(3)], third_breaks)[::3]


@pytest.fixture
def tools(site: Site, models: shared.Embedders) -> Tools:
    return wiring.tools(site.settings, site.catalog, models)


def _run(site: Site, tools: Tools, document_id: str, text: str) -> JobState:
    job = site.send(document_id, text)
    Worker(tools).answer(job)
    return site.job(job).state


def test_a_shorter_version_replaces_the_longer_one_in_both_stores(site: Site, tools: Tools) -> None:
    assert _run(site, tools, "beds", LONG) == JobState.SUCCEEDED
    assert site.index().count() == len(site.chunk_ids("beds")) > 5
    assert _run(site, tools, "beds", SHORT) == JobState.SUCCEEDED
    assert _run(site, tools, "alone", SHORT) == JobState.SUCCEEDED
    assert [one.split("-")[1] for one in site.chunk_ids("beds")] == [
        one.split("-")[1] for one in site.chunk_ids("alone")
    ]
    assert site.index().count() == len(site.chunk_ids("beds")) + len(site.chunk_ids("alone"))
    for document in ("beds", "alone"):
        cleanup = site.delete(document)
        Worker(tools).answer(cleanup)
        assert site.job(cleanup).state == JobState.SUCCEEDED
    assert site.index().count() == 0


def test_a_failing_update_leaves_the_old_version_in_both_stores(site: Site, tools: Tools) -> None:
    assert _run(site, tools, "beds", SHORT) == JobState.SUCCEEDED
    before = site.chunk_ids("beds")
    failing = FailingEmbedder(tools.embedders)
    broken = replace(tools, embedders=failing)
    job = site.send("beds", LONG)
    Worker(broken).answer(job)
    failed = site.job(job)
    assert failed.state == JobState.FAILED
    assert "beds.md" in (failed.reason or "")
    assert site.chunk_ids("beds") == before
    assert site.index().count() == len(before)
    failing.broken = False
    with site.catalog.write() as tx:
        jobs.retry(tx, site.space, job, wiring.now())
    Worker(broken).answer(job)
    assert site.job(job).state == JobState.SUCCEEDED
    assert site.index().count() == len(site.chunk_ids("beds")) > len(before)
    assert {one.rsplit("-", 1)[0] for one in site.chunk_ids("beds")} == site.index().versions()


def test_nothing_that_is_embedded_is_longer_than_the_model_reads(
    site: Site, tools: Tools, models: shared.Embedders
) -> None:
    clause = "更换滤网时必须先切断电源，旧滤网应送往北门回收点，任何异常声音都应写入日志，"
    rows = "".join(f"| V-{n:03} | Line B | {n / 10} | {1 + n / 10} | team north |\n" for n in range(80))
    table = f"# Valves\n\n| Valve | Line | Opening bar | Closing bar | Inspector |\n|---|---|---|---|---|\n{rows}"
    for name, text in {"zh": clause * 100, "valves": table, "hash": "a1b2c3" * 2000}.items():
        assert _run(site, tools, name, text) == JobState.SUCCEEDED
        with site.catalog.read() as tx:
            live = documents.version(tx, site.space, DocumentId(name), None)
            assert live is not None
            from services.shared.catalog import chunks

            stored = chunks.chunks_of_version(tx, site.space, live.id)
        assert max(models.new().count_tokens([chunk.search_text for chunk in stored])) <= 256
        assert all(chunk.text[chunk.lead :] == live.text[chunk.start : chunk.end] for chunk in stored)


def test_the_case_files_become_searchable(site: Site, tools: Tools) -> None:
    if not CASES.exists():
        pytest.skip("the case files are not beside this checkout")
    sent = {
        name: site.send(name, (CASES / name).read_bytes(), filename=name)
        for name in ("p01_cp1252_menu.txt", "p01_companion_utf8.txt", "p02_image_only.pdf", "c09_zh_no_spaces.txt")
    }
    Worker(tools).answer(next(iter(sent.values())))
    states = {name: site.job(job).state for name, job in sent.items()}
    assert states.pop("p02_image_only.pdf") == JobState.FAILED
    assert set(states.values()) == {JobState.SUCCEEDED}
    with site.catalog.read() as tx:
        menu = documents.version(tx, site.space, DocumentId("p01_cp1252_menu.txt"), None)
    assert menu is not None
    assert "€4.50" in menu.text
    assert "Le Chêne" in menu.text
    assert not re.search("[\ufffd\x80-\x9f]", menu.text)
    assert len(site.chunk_ids("c09_zh_no_spaces.txt")) >= 5


def test_a_batch_goes_in_line_by_line_and_again_is_no_work(site: Site, tools: Tools) -> None:
    records: list[dict[str, Any]] = [
        {"id": f"d{n}", "title": f"T{n}", "text": f"Valve {n} is open."} for n in range(130)
    ]
    records[7] = {"id": "d7", "oops": 1}
    records.append({"text": "Nameless."})
    for attempt in range(2):
        job = site.send_batch(records)
        Worker(tools).answer(job)
        done = site.job(job)
        assert done.state == JobState.SUCCEEDED
        assert done.result is not None
        # The nameless line is named after its job, so another batch makes another document of it.
        expected = {"documents": 131, "succeeded": 130, "failed": 1, "unchanged": 129 if attempt else 0}
        assert done.result == expected
        assert (done.done, done.total) == (131, 131)
        with site.catalog.read() as tx:
            failed, _ = jobs.items(tx, job, limit=10, cursor=None, states=[JobState.FAILED])
        assert [item.n for item in failed] == [8]
    assert site.index().count() == 131
    assert site.blobs.read(documents_sha(site, "d3")) == b"Valve 3 is open."


def documents_sha(site: Site, document_id: str) -> str:
    with site.catalog.read() as tx:
        live = documents.get(tx, site.space, DocumentId(document_id))
    assert live is not None
    return live.sha256


def test_documents_wait_for_the_indexs_own_embedder_when_it_is_not_to_be_had(
    site: Site, tools: Tools, models: shared.Embedders
) -> None:
    other = replace(models.new().spec, name="another-model", revision="0" * 64)
    with site.catalog.write() as tx:
        indexes.create(tx, site.space, id=IndexId(site.space), embedder=other, now=wiring.now())
    job = site.send("one", "Some text.")
    Worker(tools).answer(job)
    waiting = site.job(job)
    assert waiting.state == JobState.QUEUED
    assert "another-model" in (waiting.reason or "")
    assert "all-MiniLM-L6-v2" in (waiting.reason or "")


def _serving(site: Site) -> IndexRow:
    with site.catalog.read() as tx:
        row = indexes.serving(tx, site.space)
    assert row is not None
    return row


def test_a_document_goes_into_the_index_that_is_promoted_while_it_is_embedded(
    site: Site, tools: Tools, models: shared.Embedders
) -> None:
    assert _run(site, tools, "before", SHORT) == JobState.SUCCEEDED
    spec = models.new().spec
    first = _serving(site)
    other = IndexId(f"{site.space}-other")

    class Promoting:
        """Another index serves from the moment on when the vectors for this one are stored."""

        def __getattr__(self, name: str) -> Any:
            return getattr(tools.vectors, name)

        def upsert(self, target: Target, *arguments: Any) -> None:
            tools.vectors.upsert(target, *arguments)
            if target.index_id == first.id:
                with site.catalog.write() as tx:
                    tx.execute(update(schema.indexes).where(schema.indexes.c.id == first.id).values(state="standby"))
                    indexes.create(tx, site.space, id=other, embedder=spec, now=wiring.now())

    job = site.send("beds", LONG)
    Worker(replace(tools, vectors=Promoting())).answer(job)
    assert site.job(job).state == JobState.SUCCEEDED
    assert site.index().present([ChunkId(one) for one in site.chunk_ids("beds")]) == set(site.chunk_ids("beds"))
    assert VectorIndex(site.chroma_url, first).count() == len(site.chunk_ids("before")) + len(site.chunk_ids("beds"))
    cleanup = site.delete("beds")
    Worker(tools).answer(cleanup)
    assert site.index().count() == 0
    assert VectorIndex(site.chroma_url, first).count() == len(site.chunk_ids("before")), "from every index"


def test_a_job_that_another_worker_took_over_is_left_to_it(site: Site, tools: Tools) -> None:
    job = site.send("one", "Some text.")

    class Thief:
        def __getattr__(self, name: str) -> Any:
            return getattr(tools.vectors, name)

        def upsert(self, *arguments: Any) -> None:
            tools.vectors.upsert(*arguments)
            with site.catalog.write() as tx:
                jobs.reap(tx, max_attempts=9, now=wiring.now(), dead_owners=jobs.running_owners(tx))
                assert jobs.claim(tx, owner="thief", queue=jobs.find(tx, job).queue, lease_s=60,  # type: ignore[union-attr]
                                  now=wiring.now(), job_id=job)  # fmt: skip

    Worker(replace(tools, vectors=Thief())).answer(job)
    taken = site.job(job)
    assert (taken.state, taken.lease_owner) == (JobState.RUNNING, "thief")
    assert site.chunk_ids("one") == [], "the publication was rolled back with the refused job"


def test_a_cancellation_is_learned_at_the_next_heartbeat(site: Site) -> None:
    job = site.send("one", "Some text.")
    with site.catalog.write() as tx:
        jobs.claim(tx, owner="me", queue=site.job(job).queue, lease_s=0.4, now=wiring.now(), job_id=job)
    with Heartbeats(site.catalog, "me", 0.4, wiring.now).hold([job]) as lease:
        site.until(lambda: (site.job(job).lease_until or wiring.now()) > wiring.now(), 5)
        assert lease.keeps(job)
        with site.catalog.write() as tx:
            jobs.request_cancel(tx, site.space, job, wiring.now())
        site.until(lambda: not lease.keeps(job), 5)


def test_the_reconciler_takes_back_rings_and_sweeps(site: Site, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SWEEP_GRACE_S", "BLOB_GRACE_S", "RING_AFTER_S"):
        monkeypatch.setenv(f"RAGSTONE_{name}", "0")
    site.open()
    assert _run(site, tools, "one", "Some text.") == JobState.SUCCEEDED
    kept = site.index().versions()
    assert _run(site, tools, "gone", "Other text.") == JobState.SUCCEEDED
    with site.catalog.write() as tx:
        removed = documents.remove(tx, site.space, DocumentId("gone"), wiring.now())
    assert removed is not None
    orphan = removed.blobs_orphaned[0]
    waiting = site.send("two", "Waits.")
    with site.catalog.write() as tx:
        jobs.claim(
            tx, owner="this-host:1:1", queue=site.job(waiting).queue, lease_s=-1, now=wiring.now(), job_id=waiting
        )
    steps = {step.name: step.run for step in wiring.reconciler_steps(site.settings)}
    for name in ("take_back", "ring_again", "sweep_vectors", "sweep_catalog"):
        steps[name]()
    assert site.job(waiting).state == JobState.QUEUED
    assert sum(site.redis.llen(key) for key in site.redis.keys("*ingest*") if site.redis.type(key) == b"list") == 1
    assert site.index().versions() == kept
    assert not site.blobs.path(orphan).exists()
    assert site.blobs.path(documents_sha(site, "one")).exists()
