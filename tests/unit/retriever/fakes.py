"""Stand-ins for the retriever's ports: a small catalog in memory, two indexes that may lag or fail, a slow model."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from services.retriever.domain.hits import Chunk, Covered, EmbedderIdentity, Hit, ServingIndex, SpaceState
from services.retriever.domain.judged import Candidate, Judged
from services.retriever.domain.plan import Switches, Tuning
from services.retriever.flow.retrieve import Retrieval
from services.retriever.ports import Embedded, Matched, Vector
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.calibration import Calibration
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.search import Filters, RetrieveRequest, SearchResponse

SPACE = SpaceId("main")
EMBEDDER = EmbedderIdentity(name="fake", revision="r1", dimension=2, query_prompt="", document_prompt="")
TUNING = Tuning(Switches(vector=True, bm25=True, gate=True, critic=True, diversity=True), gate_coverage=0.9)


def chunk(
    id: str, text: str = "", *, document: str | None = None, type: str | None = None, source: str | None = None
) -> Chunk:
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
        source=source,
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
        self.calibration: Calibration | None = None

    async def state(self, space: SpaceId) -> SpaceState:
        return SpaceState(self.seq, self.index if self.seq else None, self.calibration)

    async def live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        self.live_calls += 1
        self.before_live(self.live_calls)
        return {id: self.chunks[id] for id in ids if id in self.chunks}

    async def chunks_of(self, space: SpaceId, document: DocumentId) -> list[Chunk]:
        return [one for one in self.chunks.values() if one.document_id == document]

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
        self.kept: dict[str, Vector] = {}

    async def stored(self, index: ServingIndex, ids: Sequence[ChunkId]) -> dict[ChunkId, Vector]:
        return {id: self.kept[id] for id in ids if id in self.kept}

    async def complete(self, index: ServingIndex) -> bool:
        return self.whole

    async def search(
        self,
        index: ServingIndex,
        vectors: Sequence[Vector],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[list[Hit]]:
        self.asked.append((len(vectors), k, filters))
        if self.error:
            raise self.error
        found = []
        for vector in vectors:
            pairs = self.lists[int(vector[0])] if int(vector[0]) < len(self.lists) else ()
            wanted = filters.type if filters else None
            fitting = [(id, far) for id, far in pairs if wanted is None or self.types.get(id) == wanted]
            found.append([Hit(ChunkId(id), far) for id, far in fitting if id not in without][:k])
        return found


class FakeKeywords:
    """For each question a list of (id, score); coverage by text, or by the id of a list's best."""

    def __init__(self, *lists: Sequence[tuple[str, float]], error: RagstoneError | None = None) -> None:
        self.lists = lists
        self.error = error
        self.covered: dict[str, float] = {}
        self.rarity = 1.0

    async def search(
        self,
        space: SpaceId,
        questions: Sequence[str],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[Matched]:
        if self.error:
            raise self.error
        if filters is not None and filters.type is not None:
            return [Matched([], Covered(0.0, self.rarity)) for _ in questions]
        lists = [self.lists[n] if n < len(self.lists) else () for n in range(len(questions))]
        return [self._matched([(id, score) for id, score in pairs if id not in without][:k]) for pairs in lists]

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[float]:
        return [self.covered.get(text, 0.5) for text in texts]

    def _matched(self, pairs: Sequence[tuple[str, float]]) -> Matched:
        share = self.covered.get(pairs[0][0], 0.5) if pairs else 0.0
        return Matched([Hit(ChunkId(id), score) for id, score in pairs], Covered(share, self.rarity))


class FakeCritic:
    """Holds everything for relevant, except what it is told of."""

    def __init__(self, *, error: RagstoneError | None = None, answerable: float = 0.8) -> None:
        self.error = error
        self.answerable = answerable
        self.relevant: dict[str, float] = {}
        self.asked: list[tuple[str, list[ChunkId]]] = []

    async def judge(self, space: SpaceId, question: str, candidates: Sequence[Candidate]) -> Judged:
        self.asked.append((question, [one.chunk.id for one in candidates]))
        if self.error:
            raise self.error
        relevant = [self.relevant.get(one.chunk.id, 0.9) for one in candidates]
        return Judged(relevant, self.answerable, {"best": max(relevant)})


def retrieval(
    records: FakeRecords,
    vectors: FakeVectors,
    keywords: FakeKeywords,
    *,
    embedder: FakeEmbedder | None = None,
    critic: FakeCritic | None = None,
    tuning: Tuning = TUNING,
) -> Retrieval:
    """The flow over fakes."""
    return Retrieval(
        records=records,
        embedder=embedder or FakeEmbedder(),
        vectors=vectors,
        keywords=keywords,
        critic=critic or FakeCritic(),
        tuning=tuning,
        clock=time.perf_counter,
    )


class SlowModel:
    """Stands for the loaded model: every batch waits to be let through, and says what it was given."""

    spec = EmbedderSpec("fake", "r1", 2, "", "", 256)
    engine = "fake in float32"

    def __init__(self) -> None:
        self.gates = {"questions": threading.Semaphore(0), "documents": threading.Semaphore(0)}
        self.calls: list[tuple[str, list[str]]] = []
        self.error: Exception | None = None

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed("questions", texts)

    def embed_documents(self, texts: Sequence[str], keep_going: object = None) -> np.ndarray:
        return self._embed("documents", texts)

    def let_through(self, batches: int, *kinds: str) -> None:
        """Let that many batches of each kind finish."""
        for kind in kinds or self.gates:
            self.gates[kind].release(batches)

    def _embed(self, kind: str, texts: Sequence[str]) -> np.ndarray:
        self.calls.append((kind, list(texts)))
        self.gates[kind].acquire()
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


class FakeGrounder:
    """The port ``Grounder``: the longer the claim, the better supported."""

    def __init__(self, failure: RagstoneError | None = None) -> None:
        self._failure = failure

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        if self._failure:
            raise self._failure
        return [Grounding(supported=round(len(one.claim) / 10, 1), contradicted=0.0) for one in pairs]


class SlowGrounder:
    """Stands for the loaded grounder: it waits for ``go``, and says how many pairs it was given."""

    def __init__(self, *, open_: bool = False) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.calls: list[int] = []
        if open_:
            self.go.set()

    def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        self.begun.set()
        self.go.wait(10)
        self.calls.append(len(pairs))
        return [Grounding(supported=0.5, contradicted=0.0) for _ in pairs]


def request(question: str = "Who won?", **fields: Any) -> RetrieveRequest:
    """What is asked of the retriever."""
    return RetrieveRequest(space=SPACE, question=question, **fields)


def ids(response: SearchResponse) -> list[str]:
    """The chunks that are shown, in order."""
    return [str(passage.chunk_id) for passage in response.passages]
