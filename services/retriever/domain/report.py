"""How retrieval shows its work: passages as clients see them, and the trace of an explained call."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.retriever.domain.fusion import Fused
from services.retriever.domain.gate import Found
from services.retriever.domain.hits import Chunk, Drop, RankedList, SpaceState
from services.retriever.domain.plan import Plan, Tuning
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import IndexState, Passage


def passage_of(fused: Fused, chunk: Chunk) -> Passage:
    """A chosen chunk with what found it."""
    return Passage(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        version=chunk.version_id,
        title=chunk.title,
        section=chunk.section,
        type=chunk.type,
        text=chunk.text,
        lead=chunk.lead,
        start=chunk.start,
        end=chunk.end,
        source=chunk.source,
        tags=list(chunk.tags),
        kind=chunk.kind,
        score=fused.score,
        distance=fused.distance,
        bm25=fused.bm25,
        critic=None,
        ranks=fused.ranks,
    )


def index_state(state: SpaceState) -> IndexState:
    """Which index answered, and how far the catalog was."""
    index = state.index
    return IndexState(id=index.id if index else None, embedder=index.embedder.name if index else None, seq=state.seq)


def explain(
    plan: Plan, tuning: Tuning, searches: Sequence[Found], fused: Iterable[Fused], passed_over: Iterable[Drop]
) -> dict[str, Any]:
    """The trace: every list with ids and scores, the gate's values, every drop with its reason.

    ``searches`` holds the search as asked, and after it the one that was gone on with when that is another.
    """
    final = searches[-1]
    return {
        "questions": list(plan.questions),
        "depth": {
            "fused": plan.depth.fused,
            "per_list": plan.depth.per_list,
            "score": plan.depth.score,
            "signals": list(plan.depth.signals),
        },
        "stages": {
            "vector": plan.switches.vector,
            "bm25": plan.switches.bm25,
            "gate": plan.switches.gate,
            "diversity": plan.switches.diversity,
        },
        "searches": [_search_rows(found, tuning, widened=place > 0) for place, found in enumerate(searches)],
        "lists": _list_rows(final.lists, final.chunks),
        "fused": [{"chunk_id": one.chunk_id, "score": one.score, "ranks": one.ranks} for one in fused],
        "drops": [
            {"chunk_id": drop.chunk_id, "list": drop.where, "reason": drop.reason}
            for drop in (*final.drops, *passed_over)
        ],
    }


def _search_rows(found: Found, tuning: Tuning, *, widened: bool) -> dict[str, Any]:
    covered = found.evidence.covered
    return {
        "type_filter_left_out": widened,
        "gate": {
            "poor": found.judgement.poor,
            "reason": found.judgement.reason,
            "best_distance": found.evidence.distance,
            "distance_limit": tuning.gate_distance,
            "best_coverage": covered.share if covered else None,
            "rarity": covered.rarity if covered else None,
            "confident_coverage": tuning.gate_coverage,
            "bm25_floor": tuning.bm25_floor,
        },
        "lists": {ranked.name: [hit.chunk_id for hit in ranked.hits] for ranked in found.lists},
    }


def _list_rows(lists: Iterable[RankedList], chunks: Mapping[ChunkId, Chunk]) -> dict[str, list[dict[str, Any]]]:
    rows = {}
    for ranked in lists:
        value = "distance" if ranked.kind == "vector" else "score"
        rows[ranked.name] = [
            {"rank": rank, "chunk_id": hit.chunk_id, "document_id": chunks[hit.chunk_id].document_id, value: hit.value}
            for rank, hit in enumerate(ranked.hits, start=1)
        ]
    return rows
