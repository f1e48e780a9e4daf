"""How retrieval shows its work: passages as clients see them, and the trace of an explained call."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from services.retriever.domain.diversity import Chosen
from services.retriever.domain.found import Found
from services.retriever.domain.fusion import Fused
from services.retriever.domain.hits import Chunk, RankedList, SpaceState
from services.retriever.domain.limits import Limits
from services.retriever.domain.miss import explain_miss
from services.retriever.domain.plan import Plan
from services.shared.contracts.search import AlsoIn, IndexState, Passage, Verdict


def passages_of(found: Found, chosen: Chosen) -> list[Passage]:
    """The chosen chunks with what found them, and where else the same is said."""
    fused = {one.chunk_id: one for one in found.fused}
    return [
        _passage(
            fused[id],
            found.chunks[id],
            found.relevant.get(id),
            [_also_in(found.chunks[other]) for other in chosen.also_in.get(id, ())],
        )
        for id in chosen.kept
    ]


def index_state(state: SpaceState) -> IndexState:
    """Which index answered, and how far the catalog was."""
    index = state.index
    return IndexState(id=index.id if index else None, embedder=index.embedder.name if index else None, seq=state.seq)


def explain(
    plan: Plan, limits: Limits, searches: Sequence[Found], chosen: Chosen, verdict: Verdict, expected: Sequence[Chunk]
) -> dict[str, Any]:
    """The trace: every list with ids and scores, every gate with its value and limit, every drop with its reason,
    and for a miss the likely cause.

    ``searches`` holds the search as asked, and after it the one that was gone on with when that is another;
    ``expected`` the live chunks of the document that the caller expected, if it named one.
    """
    final = searches[-1]
    miss = explain_miss(plan, searches, chosen.kept, verdict.gate, verdict.reason, expected, chosen.drops)
    return {
        "questions": list(plan.questions),
        "named": plan.named,
        "depth": asdict(plan.depth),
        "stages": asdict(plan.switches) | {"fusion": limits.fusion.value},
        "searches": [_search_rows(found, limits, widened=place > 0) for place, found in enumerate(searches)],
        "lists": _list_rows(final, plan.depth.per_list),
        "fused": [
            {
                "chunk_id": one.chunk_id,
                "score": one.score,
                "ranks": one.ranks,
                "critic": final.relevant.get(one.chunk_id),
            }
            for one in final.fused
        ],
        "answerability": {
            "features": dict(final.judged.features) if final.judged else {},
            "probability": verdict.answerable,
            "threshold": verdict.threshold,
            "calibrated": limits.logistic is not None,
        },
        "drops": [
            {"chunk_id": drop.chunk_id, "list": drop.where, "reason": drop.reason}
            for drop in (*final.drops, *final.refusals(chosen.kept), *chosen.drops)
        ],
        "miss": asdict(miss) if miss else None,
    }


def nothing_explained(why: str) -> dict[str, Any]:
    """The trace of a search in an empty space."""
    return {"lists": {}, "drops": [], "miss": {"cause": "not_ingested", "why": why}}


def _passage(fused: Fused, chunk: Chunk, relevant: float | None, also_in: list[AlsoIn]) -> Passage:
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
        places=list(chunk.places),
        source=chunk.source,
        tags=list(chunk.tags),
        kind=chunk.kind,
        score=fused.score,
        distance=fused.distance,
        bm25=fused.bm25,
        critic=relevant,
        ranks=fused.ranks,
        also_in=also_in,
    )


def _also_in(chunk: Chunk) -> AlsoIn:
    return AlsoIn(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        version=chunk.version_id,
        title=chunk.title,
        section=chunk.section,
        source=chunk.source,
        start=chunk.start,
        end=chunk.end,
    )


def _search_rows(found: Found, limits: Limits, *, widened: bool) -> dict[str, Any]:
    covered = found.evidence.covered
    return {
        "type_filter_left_out": widened,
        "gate": {
            "poor": found.judgement.poor,
            "reason": found.judgement.reason,
            "best_distance": found.evidence.distance,
            "distance_limit": limits.gate_distance,
            "best_coverage": covered.share if covered else None,
            "rarity": covered.rarity if covered else None,
            "confident_coverage": limits.gate_coverage,
            "bm25_floor": limits.bm25_floor,
            "critic_cut": limits.critic_cut,
        },
        "lists": {ranked.name: [hit.chunk_id for hit in ranked.hits] for ranked in found.lists},
    }


def _list_rows(found: Found, depth: int) -> dict[str, list[dict[str, Any]]]:
    return {ranked.name: list(_rows(found, ranked, depth)) for ranked in found.lists}


def _rows(found: Found, ranked: RankedList, depth: int) -> Iterable[dict[str, Any]]:
    value = "distance" if ranked.kind == "vector" else "score"
    for rank, hit in enumerate(ranked.hits[:depth], start=1):
        chunk = found.chunks.get(hit.chunk_id)
        yield {
            "rank": rank,
            "chunk_id": hit.chunk_id,
            "document_id": chunk.document_id if chunk else None,
            value: hit.value,
        }
