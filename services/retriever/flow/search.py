"""The story of one search: both indexes at the same time, one order, the texts of its head, and their judges."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.retriever.domain.compatible import check_embedder
from services.retriever.domain.found import NOT_LIVE, Found
from services.retriever.domain.fusion import LIST_DEPTH, Fused, fuse, weighed_by_critic
from services.retriever.domain.gate import Evidence, Judgement, gather_evidence, judge
from services.retriever.domain.hits import NOTHING, Chunk, Drop, Leg, RankedList
from services.retriever.domain.judged import Candidate, Judged, as_named
from services.retriever.flow.run import DEGRADES, Run
from services.retriever.ports import Critic, Keywords, Records, Vectors
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import Filters


class Search:
    """Asks the indexes, reads the catalog, has the candidates judged."""

    def __init__(self, *, records: Records, vectors: Vectors, keywords: Keywords, critic: Critic) -> None:
        self._records = records
        self._vectors = vectors
        self._keywords = keywords
        self._critic = critic

    async def find(self, run: Run, filters: Filters | None, *, again: bool = False) -> Found:
        """Ask both indexes; either may fail, not both.

        Once more when a document was replaced meanwhile: its new version may be what is looked for.
        """
        near, exact = await asyncio.gather(self._vector_leg(run, filters), self._keyword_leg(run, filters))
        if not (run.asks("vector") or run.asks("bm25")):
            raise run.failures.get("vector") or run.failures["bm25"]
        heard = (*near.lists, *exact.lists)
        lists = tuple(one for one in heard if one.question < len(run.plan.questions))
        with run.watch.step("fuse"):
            fused = tuple(fuse(lists, run.limits.fusion, scale=run.limits.scale))
        head, chunks, died = await self._head(run, fused)
        # Indexes are level with the catalog when they are asked, so what is dead now died during this search.
        if died and not again:
            return await self.find(run, filters, again=True)
        evidence = gather_evidence(
            heard, exact.covered, vectors_asked=run.asks("vector") and run.state.index is not None
        )
        judgement = self._judge_lists(run, head, evidence)
        judged = await self._criticise(run, head[: run.plan.depth.judged], chunks, near.lists)
        relevant = {} if judged is None else dict(zip((one.chunk_id for one in head), judged.relevant, strict=False))
        fused = tuple(weighed_by_critic(fused, relevant))
        return Found(
            lists,
            fused,
            chunks,
            (*exact.drops, *died),
            evidence,
            judgement,
            judged,
            relevant,
            run.limits.critic_cut,
        )

    async def _head(self, run: Run, fused: Sequence[Fused]) -> tuple[list[Fused], dict[ChunkId, Chunk], list[Drop]]:
        """The first candidates that live, with their texts, read in one go: the indexes were asked at different
        moments, and no answer may hold two versions of one document."""
        wanted = run.plan.depth.candidates
        reach = wanted
        while True:
            ids = [one.chunk_id for one in fused[:reach]]
            with run.watch.step("texts"):
                chunks = await self._records.live(run.plan.space, ids)
            if len(chunks) >= min(wanted, len(fused)) or reach >= len(fused):
                break
            reach = 2 * reach
        head = [one for one in fused[:reach] if one.chunk_id in chunks][:wanted]
        died = [
            Drop(one.chunk_id, name, NOT_LIVE)
            for one in fused[:reach]
            if one.chunk_id not in chunks
            for name in one.ranks
        ]
        return head, {one.chunk_id: chunks[one.chunk_id] for one in head}, died

    def _judge_lists(self, run: Run, head: Sequence[Fused], evidence: Evidence) -> Judgement:
        if not head:
            return Judgement(True, "nothing found")
        if not run.plan.switches.gate:
            return Judgement(False, "the gate is switched off")
        return judge(evidence, run.limits)

    async def _criticise(
        self, run: Run, head: Sequence[Fused], chunks: Mapping[ChunkId, Chunk], near: Sequence[RankedList]
    ) -> Judged | None:
        """The critic's view of the head, by the original question whatever list found a passage; None without it.

        Whether it can be answered is asked of the named wording, as the gate is: beside a pronoun all is far.
        """
        if not (run.plan.switches.critic and head):
            return None
        scale = run.limits.scale
        candidates = [
            Candidate(
                chunks[one.chunk_id],
                None if one.distance is None else scale.common(one.distance),
                one.bm25,
                one.ranks.get("vector:0"),
                one.ranks.get("bm25:0"),
            )
            for one in head
        ]
        try:
            with run.watch.step("critic"):
                judged = await self._critic.judge(run.plan.space, run.plan.questions[0], candidates)
                if run.plan.named is None:
                    return judged
                whole = await self._critic.judge(run.plan.space, run.plan.named, as_named(candidates, near[-1:], scale))
                return replace(whole, relevant=judged.relevant)
        except RagstoneError as error:
            if error.code not in DEGRADES:
                raise
            run.unjudged = True
            return None

    async def _vector_leg(self, run: Run, filters: Filters | None) -> Leg:
        index = run.state.index
        if not run.asks("vector") or index is None or run.embedded is None:
            return NOTHING
        try:
            with run.watch.step("embed"):
                embedded = await asyncio.shield(run.embedded)
            check_embedder(run.plan.space, index.embedder, embedded.embedder)
            with run.watch.step("vector"):
                found, complete = await asyncio.gather(
                    self._vectors.search(index, embedded.vectors, LIST_DEPTH, filters, run.plan.without),
                    self._vectors.complete(index),
                )
            run.incomplete = not complete
            run.silent |= not any(found)
            return Leg(tuple(RankedList("vector", n, tuple(hits)) for n, hits in enumerate(found)))
        except RagstoneError as error:
            run.silent = True
            run.failed("vector", error)
            return NOTHING

    async def _keyword_leg(self, run: Run, filters: Filters | None) -> Leg:
        """The BM25 lists. Confident or silent: one whose best passage covers less than the floor is dropped whole."""
        if not run.asks("bm25"):
            return NOTHING
        try:
            with run.watch.step("bm25"):
                found = await self._keywords.search(
                    run.plan.space, run.plan.questions, LIST_DEPTH, filters, run.plan.without
                )
        except RagstoneError as error:
            run.failed("bm25", error)
            return NOTHING
        lists, drops = [], []
        for n, matched in enumerate(found):
            hits = tuple(matched.hits)
            if matched.covered.share < run.limits.bm25_floor:
                why = f"list below the floor: {matched.covered.share:.2f}, limit {run.limits.bm25_floor:.2f}"
                drops += [Drop(hit.chunk_id, f"bm25:{n}", why) for hit in hits]
                hits = ()
            lists.append(RankedList("bm25", n, hits))
        return Leg(tuple(lists), tuple(matched.covered for matched in found), tuple(drops))
