"""The story of finding passages, top to bottom; and of scoring texts against a question."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from services.retriever.domain.compatible import check_embedder
from services.retriever.domain.diversity import Ranked, diversify
from services.retriever.domain.fusion import Fused, fuse
from services.retriever.domain.gate import Covered, Evidence, Found, Judgement, answerable, gather_evidence, judge
from services.retriever.domain.hits import NOTHING, Chunk, Drop, EmbedderIdentity, Hit, Leg, RankedList, SpaceState
from services.retriever.domain.plan import Plan, Tuning, make_plan, without_type
from services.retriever.domain.report import explain, index_state, passage_of
from services.retriever.domain.stopwatch import Stopwatch
from services.retriever.ports import Embedder, Keywords, Records, Vector, Vectors
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import (
    Filters,
    RetrieveRequest,
    ScoreRequest,
    ScoreResponse,
    SearchResponse,
    TextScore,
    Verdict,
)

DEGRADES = {
    ErrorCode.VECTOR_STORE_UNAVAILABLE: "vector_unavailable",
    ErrorCode.MODEL_UNAVAILABLE: "model_unavailable",
    ErrorCode.RETRIEVER_UNAVAILABLE: "bm25_unavailable",
}
"""Failures that the other index can answer for, and what the response calls them."""

NOT_LIVE = "not_live"
NOTHING_INGESTED = "nothing has been ingested"

DEEPER = 4
"""Factor by which a vector search asks again when dead ids left its list short."""


@dataclass
class Run:
    """One call under way: what is settled, and what is learned once and used by both searches."""

    plan: Plan
    state: SpaceState
    watch: Stopwatch
    vectors: list[Vector] | None = None
    failures: dict[str, RagstoneError] = field(default_factory=dict)
    """By index, ``vector`` or ``bm25``: one that failed is not asked again in this call."""
    incomplete: bool = False
    """The vector store lacks vectors of live chunks."""

    def asks(self, index: str) -> bool:
        """Is this index to be asked (still)?"""
        if index in self.failures:
            return False
        return self.plan.switches.bm25 if index == "bm25" else self.plan.switches.vector

    def failed(self, index: str, error: RagstoneError) -> None:
        """Go on without an index, if the other can answer for this failure; else raise it."""
        if error.code not in DEGRADES:
            raise error
        self.failures[index] = error

    @property
    def degraded(self) -> list[str]:
        names = {DEGRADES[error.code] for error in self.failures.values()}
        return sorted(names | {"vectors_incomplete"} if self.incomplete else names)


class Retrieval:
    """Finds the passages for a question. All its work outside of itself goes through the ports."""

    def __init__(
        self,
        *,
        records: Records,
        embedder: Embedder,
        vectors: Vectors,
        keywords: Keywords,
        tuning: Tuning,
        clock: Callable[[], float],
    ) -> None:
        self._records = records
        self._embedder = embedder
        self._vectors = vectors
        self._keywords = keywords
        self._tuning = tuning
        self._clock = clock

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Search, judge, fuse, choose.

        Raises: RagstoneError when the request makes no sense, the catalog does not answer, the index belongs
        to another embedder, the model is busy, or neither index could be searched.
        """
        plan = make_plan(request, self._tuning)
        watch = Stopwatch(self._clock)
        with watch.step("catalog"):
            run = Run(plan, await self._records.state(plan.space), watch)
        if run.state.seq == 0:
            return _nothing(run, explained=request.explain)
        first = await self._search(run, plan.filters)
        found, gate = await self._past_the_gate(run, first)
        with watch.step("rank"):
            fused = fuse(found.lists, plan.depth.fused)
            chosen, passed_over = self._choose(plan, fused, found.chunks)
        passages = [passage_of(one, found.chunks[one.chunk_id]) for one in chosen]
        reason = found.judgement.reason if passages or await self._records.count(plan.space) else NOTHING_INGESTED
        likely = answerable(found.evidence) if passages else 0.0
        trace = None
        if request.explain:
            searches = [first] if found is first else [first, found]
            trace = explain(plan, self._tuning, searches, fused, passed_over)
        return SearchResponse(
            passages=passages,
            verdict=Verdict(answerable=likely, gate=gate, reason=reason),
            sub_questions=list(plan.questions[1:]),
            degraded=run.degraded,
            index=index_state(run.state),
            timings_ms=watch.timings_ms(),
            trace=trace,
        )

    async def score(self, request: ScoreRequest) -> ScoreResponse:
        """Similarity and coverage of each text to the question, in the texts' order."""
        if not request.texts:
            return ScoreResponse(scores=[])
        similarities, coverage = await asyncio.gather(
            self._embedder.similarities(request.question, request.texts),
            self._keywords.coverage(request.space, request.question, request.texts),
        )
        pairs = zip(similarities, coverage.shares, strict=True)
        return ScoreResponse(scores=[TextScore(similarity=near, coverage=share) for near, share in pairs])

    async def _past_the_gate(self, run: Run, first: Found) -> tuple[Found, str]:
        """What to go on with: the search as asked, or the one without the type filter when only that is good."""
        if not first.judgement.poor:
            return first, "good"
        filters = run.plan.filters
        if run.plan.switches.gate and filters is not None and filters.type is not None:
            wider = await self._search(run, without_type(filters))
            if not wider.judgement.poor:
                return wider, "fallback"
        return first, "poor"

    async def _search(self, run: Run, filters: Filters | None, *, again: bool = False) -> Found:
        """Ask both indexes at the same time; either may fail, not both.

        Once more when it went badly and a document was replaced meanwhile: its new version may do better.
        """
        near, (exact, coverages) = await asyncio.gather(self._vector_leg(run, filters), self._keyword_leg(run, filters))
        if not (run.asks("vector") or run.asks("bm25")):
            raise run.failures.get("vector") or run.failures["bm25"]
        lists, chunks, died = await self._one_picture(run, (*near.lists, *exact.lists))
        vectors_asked = run.asks("vector") and run.state.index is not None
        evidence = gather_evidence(lists, coverages, vectors_asked=vectors_asked)
        judgement = self._judge(run.plan, lists, evidence)
        # BM25 is level with the catalog when it is asked, so what it found dead died during this search.
        if judgement.poor and not again and (died or any(drop.reason == NOT_LIVE for drop in exact.drops)):
            return await self._search(run, filters, again=True)
        return Found(lists, chunks, (*near.drops, *exact.drops, *died), evidence, judgement)

    async def _one_picture(
        self, run: Run, lists: Sequence[RankedList]
    ) -> tuple[tuple[RankedList, ...], dict[ChunkId, Chunk], list[Drop]]:
        """Read the texts of all lists in one go: the two indexes were asked at different moments, and no answer
        may hold two versions of one document."""
        ids = dict.fromkeys(hit.chunk_id for ranked in lists for hit in ranked.hits)
        with run.watch.step("texts"):
            chunks = await self._records.live(run.plan.space, list(ids))
        kept, died = [], []
        for ranked in lists:
            live, dead = _split(ranked.hits, chunks, ranked.name)
            kept.append(RankedList(ranked.kind, ranked.question, live))
            died += dead
        return tuple(kept), chunks, died

    def _judge(self, plan: Plan, lists: Sequence[RankedList], evidence: Evidence) -> Judgement:
        if not any(ranked.hits for ranked in lists):
            return Judgement(True, "nothing found")
        if not plan.switches.gate:
            return Judgement(False, "the gate is switched off")
        return judge(evidence, distance_limit=self._tuning.gate_distance, confident_coverage=self._tuning.gate_coverage)

    async def _vector_leg(self, run: Run, filters: Filters | None) -> Leg:
        if not run.asks("vector") or run.state.index is None:
            return NOTHING
        try:
            if run.vectors is None:
                run.vectors = await self._embed(run, run.state.index.embedder)
            with run.watch.step("vector"):
                nearest = self._nearest_live(run, run.vectors, filters)
                leg, complete = await asyncio.gather(nearest, self._vectors.complete(run.state.index))
            run.incomplete = not complete
            return leg
        except RagstoneError as error:
            run.failed("vector", error)
            return NOTHING

    async def _embed(self, run: Run, wanted: EmbedderIdentity) -> list[Vector]:
        """The questions' vectors, by the very embedder that made the index."""
        with run.watch.step("embed"):
            embedded = await self._embedder.questions(run.plan.questions)
        check_embedder(run.plan.space, wanted, embedded.embedder)
        return embedded.vectors

    async def _nearest_live(self, run: Run, vectors: Sequence[Vector], filters: Filters | None) -> Leg:
        """Search until each list holds ``depth`` live chunks or the index has no more to offer.

        The index may lag behind deletions: ids whose version is not live are dropped and more are asked for.
        """
        assert run.state.index is not None
        depth = k = run.plan.depth.per_list
        lists: dict[int, tuple[Hit, ...]] = {}
        chunks: dict[ChunkId, Chunk] = {}
        dead: dict[int, list[Drop]] = {}
        short = list(range(len(vectors)))
        while short:
            found = await self._vectors.search(run.state.index, [vectors[n] for n in short], k, filters)
            ids = [hit.chunk_id for hits in found for hit in hits if hit.chunk_id not in chunks]
            chunks.update(await self._records.live(run.plan.space, ids))
            again = []
            for n, hits in zip(short, found, strict=True):
                live, dead[n] = _split(hits, chunks, f"vector:{n}")
                lists[n] = live[:depth]
                if len(live) < depth and len(hits) >= k:
                    again.append(n)
            short, k = again, k * DEEPER
        ranked = tuple(RankedList("vector", n, lists[n]) for n in sorted(lists))
        return Leg(lists=ranked, drops=tuple(drop for n in sorted(dead) for drop in dead[n]))

    async def _keyword_leg(self, run: Run, filters: Filters | None) -> tuple[Leg, list[Covered]]:
        """The BM25 lists, and how much of its question each list's best passage covers."""
        if not run.asks("bm25"):
            return NOTHING, []
        try:
            with run.watch.step("bm25"):
                return await self._confident_keywords(run, filters)
        except RagstoneError as error:
            run.failed("bm25", error)
            return NOTHING, []

    async def _confident_keywords(self, run: Run, filters: Filters | None) -> tuple[Leg, list[Covered]]:
        """Confident or silent: a list whose best passage covers less than the floor is dropped whole."""
        plan = run.plan
        found = await self._keywords.search(plan.space, plan.questions, plan.depth.per_list, filters)
        chunks = await self._records.live(plan.space, [hit.chunk_id for hits in found for hit in hits])
        lists: list[RankedList] = []
        drops: list[Drop] = []
        coverages: list[Covered] = []
        for n, hits in enumerate(found):
            live, dead = _split(hits, chunks, f"bm25:{n}")
            drops += dead
            best = [chunks[hit.chunk_id].search_text for hit in live[:1]]
            coverage = await self._keywords.coverage(plan.space, plan.questions[n], best)
            covered = Covered(share=max(coverage.shares, default=0.0), rarity=coverage.rarity)
            coverages.append(covered)
            if covered.share < self._tuning.bm25_floor:
                drops += [Drop(hit.chunk_id, f"bm25:{n}", f"list below the floor: {covered.share:.2f}") for hit in live]
                live = ()
            lists.append(RankedList("bm25", n, live))
        return Leg(lists=tuple(lists), drops=tuple(drops)), coverages

    def _choose(
        self, plan: Plan, fused: Sequence[Fused], chunks: Mapping[ChunkId, Chunk]
    ) -> tuple[list[Fused], list[Drop]]:
        if not plan.switches.diversity:
            return list(fused[: plan.top_k]), []
        ranked = [
            Ranked(one.chunk_id, chunks[one.chunk_id].document_id, chunks[one.chunk_id].text, one.score)
            for one in fused
        ]
        kept, drops = diversify(ranked, plan.top_k)
        by_id = {one.chunk_id: one for one in fused}
        return [by_id[chunk_id] for chunk_id in kept], drops


def _split(hits: Sequence[Hit], chunks: Mapping[ChunkId, Chunk], where: str) -> tuple[tuple[Hit, ...], list[Drop]]:
    """The hits that are live, and a drop for each that is not."""
    live = tuple(hit for hit in hits if hit.chunk_id in chunks)
    return live, [Drop(hit.chunk_id, where, NOT_LIVE) for hit in hits if hit.chunk_id not in chunks]


def _nothing(run: Run, *, explained: bool) -> SearchResponse:
    return SearchResponse(
        passages=[],
        verdict=Verdict(answerable=0.0, gate="poor", reason=NOTHING_INGESTED),
        sub_questions=list(run.plan.questions[1:]),
        degraded=[],
        index=index_state(run.state),
        timings_ms=run.watch.timings_ms(),
        trace={"lists": {}, "drops": []} if explained else None,
    )
