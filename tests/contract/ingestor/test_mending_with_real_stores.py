"""Vectors that a real Chroma lost come back from the real catalog, by the real model."""

import time
from collections.abc import Callable

import chromadb
import pytest

from services.ingestor import wiring
from services.ingestor.flow.work import Worker
from services.ingestor.ports.tools import Tools
from services.shared.catalog import indexes, jobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, VersionId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from services.shared.index.chroma_read import VectorReader
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedder import Embedder
from services.shared.models.embedders import Embedders, Recorded
from tests.contract.ingestor.site import Site

GRACE_S = 0.05
TEA = "# Tea\n\nGreen tea is brewed at seventy degrees for two minutes.\n"
OTTER = "# Otters\n\nAn otter sleeps on its back and holds its neighbour's paw.\n"
LONG = "# Beds\n\n" + "\n\n".join(f"Bed {n} of the garden is watered at dawn on day {n}." for n in range(150))


class NoModels(Embedders):
    def of(self, recorded: Recorded) -> Embedder:
        raise RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"{recorded.name}: the disk with the models is away")


@pytest.fixture
def tools(site: Site, models: Embedders, monkeypatch: pytest.MonkeyPatch) -> Tools:
    monkeypatch.setenv("RAGSTONE_MEND_GRACE_S", str(GRACE_S))
    site.open()
    return wiring.tools(site.settings, site.catalog, models)


@pytest.fixture
def look(site: Site, tools: Tools) -> Callable[[], list[jobs.JobRow]]:
    """One round of a reconciler; the mendings that wait after it."""
    steps = {step.name: step.run for step in wiring.reconciler_steps(site.settings)}

    def go_round() -> list[jobs.JobRow]:
        time.sleep(2 * GRACE_S)
        steps["look_for_lost_vectors"]()
        steps["mend_vectors"]()
        with site.catalog.read() as tx:
            waiting, _ = jobs.list_jobs(tx, site.space, states=[JobState.QUEUED], limit=10, cursor=None)
        return [job for job in waiting if job.kind == JobKind.MEND]

    return go_round


def _ingest(site: Site, tools: Tools, **texts: str) -> None:
    for name, text in texts.items():
        job = site.send(name, text)
        Worker(tools).answer(job)
        assert site.job(job).state == JobState.SUCCEEDED


def _delete_collection(site: Site) -> None:
    with site.catalog.read() as tx:
        row = indexes.serving(tx, site.space)
    assert row is not None
    port = int(site.chroma_url.rsplit(":", 1)[1])
    chromadb.HttpClient(host="127.0.0.1", port=port).delete_collection(row.collection)


def _nearest(site: Site, models: Embedders, question: str) -> ChunkId:
    with site.catalog.read() as tx:
        row = indexes.serving(tx, site.space)
    assert row is not None
    return VectorReader(site.chroma_url, row).query(models.new().embed_questions([question]), 1)[0][0].chunk_id


def test_a_deleted_collection_is_filled_again(
    site: Site, tools: Tools, models: Embedders, look: Callable[[], list[jobs.JobRow]]
) -> None:
    _ingest(site, tools, tea=TEA, otter=OTTER, beds=LONG)
    before = site.index().sizes()
    assert look() == look() == []
    _delete_collection(site)
    assert look() == [], "one look is not enough"
    (mending,) = look()
    assert (mending.queue, mending.total) == (Queue.INDEX, 3)
    assert sum(site.redis.llen(key) for key in site.redis.keys("*index*") if site.redis.type(key) == b"list") == 1
    assert [job.id for job in look()] == [mending.id], "one mending at a time"
    Worker(tools).answer(mending.id)
    done = site.job(mending.id)
    assert (done.state, done.result) == (JobState.SUCCEEDED, {"versions": 3, "chunks": sum(before.values())})
    assert (done.done, done.total) == (3, 3)
    assert site.index().sizes() == before
    assert _nearest(site, models, "How hot is green tea brewed?") == site.chunk_ids("tea")[0]
    assert _nearest(site, models, "How does an otter sleep?") == site.chunk_ids("otter")[0]
    assert look() == look() == []


def test_a_partial_loss_is_mended_with_what_stands_beside_a_vector(
    site: Site, tools: Tools, look: Callable[[], list[jobs.JobRow]]
) -> None:
    _ingest(site, tools, tea=TEA, beds=LONG)
    ids = site.chunk_ids("beds")
    handle = site.index()._collection()
    lost = [ids[1], ids[-1]]
    before = handle.get(ids=lost, include=["metadatas", "embeddings"])
    handle.delete(ids=lost)
    look()
    (mending,) = look()
    Worker(tools).answer(mending.id)
    assert site.job(mending.id).result == {"versions": 1, "chunks": 2}
    after = handle.get(ids=lost, include=["metadatas", "embeddings"])
    assert (after["ids"], after["metadatas"]) == (before["ids"], before["metadatas"])
    assert after["embeddings"] == pytest.approx(before["embeddings"], abs=0.02), "bfloat16 depends on its neighbours"
    assert site.index().count() == len(ids) + len(site.chunk_ids("tea"))


def test_a_deleted_document_is_not_mended(site: Site, tools: Tools, look: Callable[[], list[jobs.JobRow]]) -> None:
    _ingest(site, tools, tea=TEA, otter=OTTER)
    _delete_collection(site)
    look()
    (mending,) = look()
    site.delete("otter")
    Worker(tools).answer(mending.id)
    assert site.job(mending.id).result == {"versions": 1, "chunks": 1}
    assert site.index().present([ChunkId(one) for one in site.chunk_ids("tea")]) == set(site.chunk_ids("tea"))
    assert site.index().count() == 1
    assert look() == look() == []


def test_after_a_failed_mending_the_space_rests(
    site: Site, tools: Tools, look: Callable[[], list[jobs.JobRow]]
) -> None:
    _ingest(site, tools, tea=TEA)
    _delete_collection(site)
    look()
    (mending,) = look()
    away = wiring.tools(site.settings, site.catalog, NoModels(EmbedderSettings()))
    for expected in (JobState.QUEUED, JobState.QUEUED, JobState.FAILED):
        Worker(away).answer(mending.id)
        assert site.job(mending.id).state == expected
    failed = site.job(mending.id)
    assert (failed.state, failed.result) == (JobState.FAILED, None)
    assert "the disk with the models is away" in (failed.reason or "")
    assert look() == look() == [], "the next one would most likely fail as well"
    with site.catalog.write() as tx:
        jobs.retry(tx, site.space, mending.id, wiring.now())
    Worker(tools).answer(mending.id)
    assert site.job(mending.id).result == {"versions": 1, "chunks": 1}


def test_vectors_of_a_version_that_died_while_it_was_mended_are_swept(
    site: Site, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if its worker was killed between storing them and looking whether it is live still."""
    monkeypatch.setenv("RAGSTONE_SWEEP_GRACE_S", "0")
    site.open()
    _ingest(site, tools, tea=TEA, otter=OTTER)
    gone = _versions(site, "otter")
    mending = site.send_mending(gone)
    site.delete("otter")
    sweep = {step.name: step.run for step in wiring.reconciler_steps(site.settings)}["sweep_vectors"]
    sweep()
    assert gone < site.index().versions(), "the mending waits, so they are left alone"
    Worker(tools).answer(mending)
    sweep()
    assert site.index().versions() == _versions(site, "tea")


def _versions(site: Site, document_id: str) -> set[VersionId]:
    return {VersionId(one.split("-")[0]) for one in site.chunk_ids(document_id)}


@pytest.mark.slow
def test_real_processes_notice_a_loss_and_mend_it(site: Site, tools: Tools) -> None:
    _ingest(site, tools, tea=TEA, otter=OTTER)
    before = site.index().sizes()
    _delete_collection(site)
    with site.process("worker"), site.process("reconciler", RAGSTONE_MEND_EVERY_S="0.5"):
        site.until(lambda: site.index().sizes() == before, 120)
