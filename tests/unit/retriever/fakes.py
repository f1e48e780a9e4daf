"""Stand-ins for the retriever's ports: a small catalog in memory, two indexes that may lag or fail, a slow model."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from services.retriever.domain.hits import Chunk, EmbedderIdentity, Hit, ServingIndex, SpaceState
from services.retriever.domain.plan import Switches, Tuning
from services.retriever.flow import Retrieval
from services.retriever.ports import Coverage, Embedded, Vector
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.search import Filters

SPACE = SpaceId("main")
EMBEDDER = EmbedderIdentity(name="fake", revision="r1", dimension=2, query_prompt="", document_prompt="")
TUNING = Tuning(Switches(vector=True, bm25=True, gate=True, diversity=True), 0.55, 0.9, 0.1)


def chunk(id: str, text: str = "", *, document: str | None = None, type: str | None = None) -> Chunk:
    """A live chunk; its document is the part of the id before '#'."""
    text = text or f"text of {id}"
    return Chunk(
        id=ChunkId(id),
        document_id=DocumentId(document or id.split("#")[0]),
        version_id=VersionId(f"v-{document or id.split('#')[0]}"),
        title="",
        section="",
        type=type,
        tags=(),
        source=None,
        text=text,
        lead=0,
        start=0,
        end=len(text),
        kind="fact",
        search_text=text,
    )


class FakeRecords:
    """What is live is what ``chunks`` holds at the moment of the question."""

    def __init__(self, chunks: Iterable[Chunk] = (), *, seq: int = 1, embedder: EmbedderIdentity = EMBEDDER) -> None:
        self.chunks = {one.id: one for one in chunks}
        self.seq = seq
        self.index: ServingIndex | None = ServingIndex(IndexId("i1"), SPACE, embedder)
        self.before_live: Callable[[int], None] = lambda call: None
        self.live_calls = 0

    async def state(self, space: SpaceId) -> SpaceState:
        return SpaceState(seq=self.seq, index=self.index if self.seq else None)

    async def live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        self.live_calls += 1
        self.before_live(self.live_calls)
        return {id: self.chunks[id] for id in ids if id in self.chunks}

    async def count(self, space: SpaceId) -> int:
        return len(self.chunks)


class FakeEmbedder:
    """Vectors that only say which question they stand for."""

    def __init__(self, *, identity: EmbedderIdentity = EMBEDDER, error: RagstoneError | None = None) -> None:
        self.identity = identity
        self.error = error
        self.batches: list[list[str]] = []

    async def questions(self, texts: Sequence[str]) -> Embedded:
        self.batches.append(list(texts))
        if self.error:
            raise self.error
        return Embedded([[float(n), 0.0] for n in range(len(texts))], self.identity)

    async def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        return [1.0 if text == question else 0.0 for text in texts]


class FakeVectors:
    """For each question a list of (id, distance); ``types`` maps ids to types for the filter."""

    def __init__(self, *lists: Sequence[tuple[str, float]], error: RagstoneError | None = None) -> None:
        self.lists = lists
        self.error = error
        self.types: dict[str, str] = {}
        self.asked: list[tuple[int, int, Filters | None]] = []
        self.whole = True

    async def complete(self, index: ServingIndex) -> bool:
        return self.whole

    async def search(
        self, index: ServingIndex, vectors: Sequence[Vector], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        self.asked.append((len(vectors), k, filters))
        if self.error:
            raise self.error
        found = []
        for vector in vectors:
            pairs = self.lists[int(vector[0])] if int(vector[0]) < len(self.lists) else ()
            wanted = filters.type if filters else None
            fitting = [(id, far) for id, far in pairs if wanted is None or self.types.get(id) == wanted]
            found.append([Hit(ChunkId(id), far) for id, far in fitting[:k]])
        return found


class FakeKeywords:
    """For each question a list of (id, score); coverage by text."""

    def __init__(self, *lists: Sequence[tuple[str, float]], error: RagstoneError | None = None) -> None:
        self.lists = lists
        self.error = error
        self.covered: dict[str, float] = {}
        self.rarity = 1.0

    async def search(
        self, space: SpaceId, questions: Sequence[str], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        if self.error:
            raise self.error
        if filters is not None and filters.type is not None:
            return [[] for _ in questions]
        lists = [self.lists[n] if n < len(self.lists) else () for n in range(len(questions))]
        return [[Hit(ChunkId(id), score) for id, score in pairs[:k]] for pairs in lists]

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> Coverage:
        return Coverage([self.covered.get(text, 0.5) for text in texts], self.rarity)


def retrieval(
    records: FakeRecords,
    vectors: FakeVectors,
    keywords: FakeKeywords,
    *,
    embedder: FakeEmbedder | None = None,
    tuning: Tuning = TUNING,
) -> Retrieval:
    """The flow over fakes."""
    return Retrieval(
        records=records,
        embedder=embedder or FakeEmbedder(),
        vectors=vectors,
        keywords=keywords,
        tuning=tuning,
        clock=time.perf_counter,
    )


class SlowModel:
    """Stands for the loaded model: every batch waits for ``gate``, and says what it was given."""

    spec = EmbedderSpec("fake", "r1", 2, "", "", 256)

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        self.entered = threading.Semaphore(0)
        self.calls: list[tuple[str, list[str]]] = []
        self.error: Exception | None = None

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed("questions", texts)

    def embed_documents(self, texts: Sequence[str], keep_going: object = None) -> np.ndarray:
        return self._embed("documents", texts)

    def let_through(self, batches: int) -> None:
        """Let that many batches finish."""
        self.gate.release(batches)

    def _embed(self, kind: str, texts: Sequence[str]) -> np.ndarray:
        self.calls.append((kind, list(texts)))
        self.entered.release()
        self.gate.acquire()
        if self.error:
            raise self.error
        return np.asarray([[len(text), 1.0] for text in texts], dtype=np.float32)


class SlowLoader:
    """Stands for LazyEmbedder: the load waits for ``ready``."""

    def __init__(self, model: SlowModel, *, ready: bool = True) -> None:
        self.model = model
        self.ready = threading.Event()
        self.loaded = False
        self.loads = 0
        self.error: RagstoneError | None = None
        if ready:
            self.ready.set()

    def get(self) -> SlowModel:
        if not self.loaded:
            self.loads += 1
            self.ready.wait(10)
            if self.error:
                raise self.error
            self.loaded = True
        return self.model
