"""Stand-ins for the retriever's ports: a small catalog in memory, two indexes that may lag or fail."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from services.retriever.domain.hits import Chunk, Covered, EmbedderIdentity, Hit, ServingIndex, SpaceState
from services.retriever.domain.judged import Candidate, Judged
from services.retriever.domain.plan import Switches, Tuning
from services.retriever.flow.retrieve import Retrieval
from services.retriever.ports import Embedded, Matched, Vector
from services.shared.contracts.calibration import Calibration, Logistic, Thresholds
from services.shared.contracts.errors import ErrorCode, RagstoneError
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
        self.before_state: Callable[[int], None] = lambda call: None
        self.state_calls = 0
        self.beside: dict[IndexId, ServingIndex] = {}
        self.calibration: Calibration | None = None

    async def state(self, space: SpaceId, index: IndexId | None = None) -> SpaceState:
        self.state_calls += 1
        self.before_state(self.state_calls)
        if index is not None:
            if index not in self.beside:
                raise RagstoneError(ErrorCode.INDEX_NOT_FOUND, "There is no such index.")
            return SpaceState(self.seq, self.beside[index], None)
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
    """Vectors that only say which question they stand for; ``identity`` when it answers for another than it should."""

    def __init__(self, *, identity: EmbedderIdentity | None = None, error: RagstoneError | None = None) -> None:
        self.identity = identity
        self.error = error
        self.batches: list[list[str]] = []
        self.asked: list[EmbedderIdentity | None] = []

    async def questions(self, embedder: EmbedderIdentity, texts: Sequence[str]) -> Embedded:
        self.batches.append(list(texts))
        self.asked.append(embedder)
        if self.error:
            raise self.error
        return Embedded([[float(n), 0.0] for n in range(len(texts))], self.identity or embedder)

    async def similarities(self, embedder: EmbedderIdentity | None, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(embedder)
        return [1.0 if text == question else 0.7 for text in texts]


class FakeVectors:
    """For each question a list of (id, distance); ``types`` maps ids to types for the filter."""

    def __init__(self, *lists: Sequence[tuple[str, float]], error: RagstoneError | None = None) -> None:
        self.lists = lists
        self.error = error
        self.types: dict[str, str] = {}
        self.gone: set[str] = set()
        """Indexes whose vectors are deleted."""
        self.asked: list[tuple[int, int, Filters | None]] = []
        self.asked_of: list[str] = []
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
        self.asked_of.append(index.id)
        if self.error:
            raise self.error
        if index.id in self.gone:
            return [[] for _ in vectors]
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


class FakeGrounder:
    """The port ``Grounder``: the longer the claim, the better supported."""

    def __init__(self, failure: RagstoneError | None = None) -> None:
        self._failure = failure

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        if self._failure:
            raise self._failure
        return [Grounding(supported=round(len(one.claim) / 10, 1), contradicted=0.0) for one in pairs]


def calibrated(*, enforced: bool = True, **thresholds: float) -> Calibration:
    """What was fitted for the index."""
    return Calibration(
        id="c1",
        index_id=IndexId("i1"),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        seq=1,
        chunks=1,
        risk=0.05,
        expected_risk=0.04,
        expected_coverage=0.7,
        asked={"answerable": 100},
        auroc={},
        thresholds=Thresholds(**thresholds),
        enforced=enforced,
        answerability=Logistic(intercept=0.0, weights={"best": 1.0}),
    )


def request(question: str = "Who won?", **fields: Any) -> RetrieveRequest:
    """What is asked of the retriever."""
    return RetrieveRequest(space=SPACE, question=question, **fields)


def ids(response: SearchResponse) -> list[str]:
    """The chunks that are shown, in order."""
    return [str(passage.chunk_id) for passage in response.passages]
