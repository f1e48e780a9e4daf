"""Embedders that are a hash, so that each vector tells which model made it of which text; and their indexes."""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from services.ingestor.adapters.index_vectors import ChromaSecondVectors
from services.ingestor.adapters.indexes import CatalogComparisonContent, CatalogSecondIndexes
from services.ingestor.adapters.vectors import ChromaVectors
from services.ingestor.flow.work import Worker
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Target
from services.ingestor.ports.reembedding import Ranking, ReembeddingTools, Stretch
from services.ingestor.ports.tools import Tools
from services.ingestor.wiring import now, tools
from services.shared.catalog import chunks, index_building, indexes, switching
from services.shared.catalog.engine import Catalog
from services.shared.catalog.index_rows import StoredIndex, WantedEmbedder
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, SpaceId
from services.shared.index.chroma_read import VectorReader
from services.shared.kit.events import JobEventSender
from services.shared.kit.owner import this_process
from services.shared.models.embedders import Embedders
from tests.contract.ingestor.site import Site

Row = NDArray[np.float32]

KNOWN = {
    "A": EmbedderSpec("A", "aa", 8, "", "", 256),
    "same width": EmbedderSpec("same width", "bb", 8, "", "", 256),
    "wider": EmbedderSpec("wider", "cc", 12, "query: ", "passage: ", 20),
}


def vector_of(spec: EmbedderSpec, text: str) -> Row:
    """What this model makes of a text."""
    seed = hashlib.sha256(f"{spec.name}|{spec.document_prompt}{text}".encode()).digest()
    row = np.random.default_rng(int.from_bytes(seed[:8], "big")).normal(size=spec.dimension)
    made: Row = (row / np.linalg.norm(row)).astype(np.float32)
    return made


@dataclass
class HashModel:
    """Counts what it embeds."""

    spec: EmbedderSpec
    embedded: list[str]
    before: Callable[[], None]

    def max_tokens(self) -> int:
        return self.spec.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Row:
        self.before()
        if not keep_going(0):
            raise EmbeddingStopped
        self.embedded += texts
        return np.stack([vector_of(self.spec, text) for text in texts])


@dataclass
class HashModels:
    """All models of a process; what each embedded, by its name."""

    embedded: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in KNOWN})
    before: Callable[[], None] = lambda: None

    def of(self, target: Target) -> HashModel:
        assert asdict(target.embedder) == asdict(KNOWN[target.embedder.name])
        return HashModel(KNOWN[target.embedder.name], self.embedded[target.embedder.name], lambda: self.before())

    def load(self, wanted: WantedEmbedder) -> EmbedderSpec:
        if wanted.name not in KNOWN:
            raise RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"the embedder {wanted.name!r} is not here; install it")
        return KNOWN[wanted.name]


class EqualRankings:
    """A retriever to whom all indexes are alike."""

    def look(self, space: SpaceId, question: str, index_id: IndexId, top_k: int) -> Ranking:
        return Ranking([Stretch(DocumentId("none"), 0, 1)], frozenset(), 1)

    @contextmanager
    def __call__(self) -> Iterator["EqualRankings"]:
        yield self


class OtherModels:
    """A worker on a site, with hashes for models, and what a gateway does about indexes."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.models = HashModels()
        self.catalog = site.catalog
        self.worker = Worker(self.tools(self.models))

    def tools(self, models: HashModels, catalog: Catalog | None = None) -> Tools:
        """Everything real but the models and the retriever."""
        site, catalog = self.site, catalog or self.catalog
        real = tools(site.settings, catalog, Embedders(site.settings.embedder))
        events = JobEventSender(site.settings.redis)
        return replace(
            real,
            embedders=models,
            vectors=ChromaVectors(site.chroma_url, catalog, lambda: KNOWN["A"], now),
            reembedding=ReembeddingTools(
                CatalogSecondIndexes(catalog, events, this_process(), models.load, now),
                ChromaSecondVectors(site.chroma_url, catalog, site.folder),
                EqualRankings(),
                CatalogComparisonContent(catalog),
            ),
        )

    def ingest(self, document_id: str, text: str) -> None:
        job_id = self.site.send(document_id, text)
        self.run(job_id)
        assert self.site.job(job_id).state == "succeeded", self.site.job(job_id).reason

    def run(self, job_id: JobId, most: int = 50) -> None:
        """Until it has ended."""
        for _ in range(most):
            if self.site.job(job_id).state.final:
                return
            self.worker.answer(job_id)

    def order(self, name: str, *, promote: bool = False) -> tuple[IndexId, JobId]:
        with self.catalog.write() as tx:
            index, job = index_building.order(
                tx,
                self.site.space,
                WantedEmbedder(name, None, None),
                id=IndexId(uuid.uuid4().hex),
                job_id=JobId(uuid.uuid4().hex),
                promote=promote,
                request_id="",
                now=now(),
            )
        return index.id, job.id

    def promote(self, index_id: IndexId, *, force: bool = True) -> StoredIndex:
        """As the gateway does, with the worker at hand."""
        for _ in range(20):
            with self.catalog.write() as tx:
                ids = switching.NewIds(JobId(uuid.uuid4().hex), JobId(uuid.uuid4().hex))
                done = switching.ask(tx, self.site.space, index_id, force=force, ids=ids, request_id="", now=now())
            if isinstance(done, switching.Switched):
                return done.index
            for job in done.jobs:
                self.run(job.id)
        raise AssertionError("it never serves")

    def remove(self, index_id: IndexId) -> None:
        with self.catalog.write() as tx:
            _, job = switching.retire(
                tx, self.site.space, index_id, job_id=JobId(uuid.uuid4().hex), request_id="", now=now()
            )
        if job is not None:
            self.run(job.id)

    def row(self, index_id: IndexId) -> IndexRow:
        with self.catalog.read() as tx:
            row = indexes.find(tx, index_id)
        assert row is not None
        return row

    def serving(self) -> IndexRow:
        with self.catalog.read() as tx:
            row = indexes.serving(tx, self.site.space)
        assert row is not None
        return row

    def stored(self, index_id: IndexId) -> StoredIndex | None:
        with self.catalog.read() as tx:
            return indexes.stored(tx, index_id)

    def worker_now(self, seconds: float = 0.0) -> datetime:
        """The time as the worker notes it, or later."""
        return now() + timedelta(seconds=seconds)

    def present(self, index_id: IndexId) -> set[ChunkId]:
        """Ids of the live chunks that have a vector."""
        return set(VectorReader(self.site.chroma_url, self.row(index_id)).vectors(list(self.texts()))[0])

    def check_models(self, index_id: IndexId) -> None:
        """What is there of the live chunks was made by this index's own model, of these texts."""
        row, texts = self.row(index_id), self.texts()
        ids, vectors = VectorReader(self.site.chroma_url, row).vectors(list(texts))
        for id, vector in zip(ids, vectors, strict=True):
            np.testing.assert_allclose(vector, vector_of(row.embedder, texts[id]), atol=1e-5)

    def texts(self) -> dict[ChunkId, str]:
        """What is embedded of each live chunk."""
        with self.catalog.read() as tx:
            return {chunk.id: chunk.search_text for chunk in chunks.iter_live(tx, self.site.space)}

    def check_whole(self, index_id: IndexId) -> None:
        """Every live chunk has its vector, of this index's model and of this text, and nothing else is there."""
        assert self.present(index_id) == set(self.texts())
        assert VectorReader(self.site.chroma_url, self.row(index_id)).count() == len(self.texts())
        self.check_models(index_id)
