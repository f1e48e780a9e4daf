"""The story of finding passages, top to bottom."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress

from services.retriever.domain.diversity import Candidates, Chosen, Ranked
from services.retriever.domain.found import Found
from services.retriever.domain.gate import answerable_by_features, answerable_by_lists
from services.retriever.domain.hits import SpaceState
from services.retriever.domain.limits import limits_for
from services.retriever.domain.plan import Plan, Tuning, make_plan, without_type
from services.retriever.domain.report import explain, index_state, nothing_explained, passages_of
from services.retriever.domain.scale import COMMON, scale_of
from services.retriever.domain.stopwatch import Stopwatch
from services.retriever.flow.run import Run
from services.retriever.flow.search import Search
from services.retriever.ports import Critic, Embedder, Keywords, Records, Vector, Vectors
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import RetrieveRequest, SearchResponse, Verdict

NOTHING_INGESTED = "nothing has been ingested"


class Retrieval:
    """Finds the passages for a question. All its work outside of itself goes through the ports."""

    def __init__(
        self,
        *,
        records: Records,
        embedder: Embedder,
        vectors: Vectors,
        keywords: Keywords,
        critic: Critic,
        tuning: Tuning,
        clock: Callable[[], float],
        step: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._records = records
        self._embedder = embedder
        self._vectors = vectors
        self._search = Search(records=records, vectors=vectors, keywords=keywords, critic=critic)
        self._tuning = tuning
        self._clock = clock
        self._step = step

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Search, judge, fuse, choose.

        A search ends on the index that it began on. Where that one was silent and another serves by now, its vectors
        may be deleted already: then the search is done once more, on the one that serves.
        Raises: RagstoneError when the request makes no sense, the catalog does not answer, the model is busy, the
        index asked for is not one of the space, or neither index could be searched.
        """
        plan = make_plan(request, self._tuning)
        watch = Stopwatch(self._clock, self._step)
        with watch.step("catalog"):
            state = await self._records.state(plan.space, plan.index)
        if state.seq == 0:
            return _nothing(plan, state, watch, explained=request.explain)
        async with self._begun(plan, state, watch) as run:
            try:
                response = await self._found(run, explained=request.explain)
            except RagstoneError:
                now = await self._switched(run)
                if now is None:
                    raise
            else:
                now = await self._switched(run)
                if now is None:
                    return response
        async with self._begun(plan, now, watch) as run:
            return await self._found(run, explained=request.explain)

    @asynccontextmanager
    async def _begun(self, plan: Plan, state: SpaceState, watch: Stopwatch) -> AsyncIterator[Run]:
        """A search on one index. Its questions are being embedded by that index's own embedder from here on."""
        index = state.index
        embedding = None
        if plan.switches.vector and index is not None:
            embedding = asyncio.ensure_future(self._embedder.questions(index.embedder, plan.embedded))
        scale = COMMON if index is None else scale_of(index.embedder.name)
        try:
            yield Run(plan, state, limits_for(self._tuning, state.calibration, plan.fusion, scale), watch, embedding)
        finally:
            if embedding is not None:
                embedding.cancel()
                with suppress(asyncio.CancelledError, RagstoneError):
                    await embedding

    async def _switched(self, run: Run) -> SpaceState | None:
        """Where the space stands, if a search that was silent should be done again; None if not."""
        if run.plan.index is not None or not run.silent:
            return None
        try:
            now = await self._records.state(run.plan.space)
        except RagstoneError:
            return None
        here, there = run.state.index, now.index
        return now if there is not None and (here is None or here.id != there.id) else None

    async def _found(self, run: Run, *, explained: bool) -> SearchResponse:
        plan = run.plan
        first = await self._search.find(run, plan.filters)
        found, gate = await self._past_the_gate(run, first)
        with run.watch.step("rank"):
            chosen = await self._choose(run, found)
        passages = passages_of(found, chosen)
        verdict = await self._verdict(run, found, gate, passages_found=bool(passages))
        trace = None
        if explained:
            searches = [first] if found is first else [first, found]
            expected = [] if plan.expect is None else await self._records.chunks_of(plan.space, plan.expect)
            trace = explain(plan, run.limits, searches, chosen, verdict, expected)
        return SearchResponse(
            passages=passages,
            verdict=verdict,
            sub_questions=list(plan.questions[1:]),
            degraded=run.degraded,
            index=index_state(run.state),
            timings_ms=run.watch.timings_ms(),
            trace=trace,
        )

    async def _past_the_gate(self, run: Run, first: Found) -> tuple[Found, str]:
        """What to go on with: the search as asked, or the one without the type filter when only that is good."""
        if not first.judgement.poor:
            return first, "good"
        filters = run.plan.filters
        if run.plan.switches.gate and filters is not None and filters.type is not None:
            wider = await self._search.find(run, without_type(filters))
            if not wider.judgement.poor:
                return wider, "fallback"
        return first, "poor"

    async def _choose(self, run: Run, found: Found) -> Chosen:
        """The passages to show; where a full page is wanted, what the critic refused comes after what it did not."""
        top_k = run.plan.top_k
        head = found.relevant_head if run.plan.only_relevant else found.head
        if not run.plan.switches.diversity:
            return Chosen([one.chunk_id for one in head[:top_k]])
        candidates = Candidates([Ranked(found.chunks[one.chunk_id], one.score) for one in head], top_k)
        return candidates.choose(await self._stored(run, candidates.doubtful))

    async def _stored(self, run: Run, ids: Sequence[ChunkId]) -> dict[ChunkId, Vector]:
        if not ids or not run.asks("vector") or run.state.index is None:
            return {}
        try:
            return await self._vectors.stored(run.state.index, ids)
        except RagstoneError as error:
            run.failed("vector", error)
            return {}

    async def _verdict(self, run: Run, found: Found, gate: str, *, passages_found: bool) -> Verdict:
        """Does the content answer the question? A calibrated threshold turns a good gate into a poor one."""
        if not passages_found:
            count = await self._records.count(run.plan.space)
            reason = found.judgement.reason if found.judgement.poor else "the critic holds no passage for relevant"
            return Verdict(answerable=0.0, gate="poor", reason=reason if count else NOTHING_INGESTED)
        likely, threshold = self._likely(run, found)
        reason = found.judgement.reason
        if threshold is not None and likely < threshold and run.plan.switches.gate and gate != "poor":
            gate = "poor"
            reason = f"the passages answer it with probability {likely:.2f}, calibrated limit {threshold:.2f}"
        return Verdict(answerable=likely, threshold=threshold, gate=gate, reason=reason)

    def _likely(self, run: Run, found: Found) -> tuple[float, float | None]:
        """The probability of an answer, and the threshold where there is one for this way of telling."""
        if found.judged is None:
            return answerable_by_lists(found.evidence, run.limits.scale), None
        fitted = run.limits.logistic
        if fitted is None:
            return found.judged.answerable, run.limits.answerable
        return answerable_by_features(found.judged.features, fitted), run.limits.answerable


def _nothing(plan: Plan, state: SpaceState, watch: Stopwatch, *, explained: bool) -> SearchResponse:
    return SearchResponse(
        passages=[],
        verdict=Verdict(answerable=0.0, gate="poor", reason=NOTHING_INGESTED),
        sub_questions=list(plan.questions[1:]),
        degraded=[],
        index=index_state(state),
        timings_ms=watch.timings_ms(),
        trace=nothing_explained(NOTHING_INGESTED) if explained else None,
    )
