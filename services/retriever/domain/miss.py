"""Why an expected document is not among the passages: the stage at which it was lost, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.retriever.domain.found import CRITIC, Found
from services.retriever.domain.hits import Chunk, Drop
from services.retriever.domain.plan import Plan
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import Filters


@dataclass(frozen=True)
class Miss:
    """``cause`` is one of not_ingested, type_filter, filter, gate, floor, critic, near_duplicate, crowded_out,
    too_far, left_out; ``why`` a sentence with the values that decided."""

    cause: str
    why: str


def explain_miss(
    plan: Plan,
    searches: Sequence[Found],
    shown: Sequence[ChunkId],
    gate: str,
    reason: str,
    expected: Sequence[Chunk],
    passed_over: Sequence[Drop],
) -> Miss | None:
    """The likely cause for the document that was expected, or, where none was named, for a poor result."""
    if plan.expect is None:
        return Miss(*_whole(searches[-1], gate, reason)) if gate != "good" or not shown else None
    if not expected:
        return Miss("not_ingested", f"the space holds no live document {plan.expect}; see its jobs, and ingest it")
    ids = {chunk.id for chunk in expected}
    if ids & set(shown):
        return _shown(gate, reason)
    if plan.without >= ids:
        return Miss("left_out", "the request itself leaves all its chunks out")
    for drop in passed_over:
        if drop.chunk_id in ids:
            return Miss("near_duplicate", f"another passage is shown in its place: {drop.reason}")
    return Miss(*_lost(plan, searches[-1], shown, expected, ids, widened=len(searches) > 1))


def _whole(found: Found, gate: str, reason: str) -> tuple[str, str]:
    if gate == "fallback":
        return "type_filter", "nothing of the asked type is near the question; without the type filter something is"
    if found.refused and not found.relevant_head:
        return CRITIC, found.refusals(())[0].reason
    if found.drops and not found.chunks:
        return "floor", found.drops[-1].reason
    return "gate", reason


def _shown(gate: str, reason: str) -> Miss | None:
    """It is there; but a poor gate keeps it from answering."""
    return Miss("gate", reason) if gate == "poor" else None


def _lost(
    plan: Plan, found: Found, shown: Sequence[ChunkId], expected: Sequence[Chunk], ids: set[ChunkId], *, widened: bool
) -> tuple[str, str]:
    one = expected[0]
    if not widened and plan.filters is not None and (lost := _filtered(plan.filters, one)):
        return lost
    for refusal in found.refusals(shown):
        if refusal.chunk_id in ids:
            return CRITIC, f"its best chunk is dropped by the critic: {refusal.reason}"
    drops = [drop for drop in found.drops if drop.chunk_id in ids]
    places = [place for place, fused in enumerate(found.fused, start=1) if fused.chunk_id in ids]
    if places:
        best = found.fused[places[0] - 1]
        lists = ", ".join(f"{name} {rank}" for name, rank in best.ranks.items())
        return (
            "crowded_out",
            f"its best chunk is number {places[0]} of the fused order ({lists}) and {len(shown)} are shown; "
            "ask for more with top_k, or more exactly",
        )
    if drops:
        return "floor", f"it was found by words alone, and that list was silent: {drops[0].reason}"
    return "too_far", "none of its chunks is among the first of any list: the question shares too little with its text"


def _filtered(filters: Filters, chunk: Chunk) -> tuple[str, str] | None:
    types = [filters.type] if isinstance(filters.type, str) else filters.type
    if types is not None and chunk.type not in types:
        return "type_filter", f"its type is {chunk.type!r} and the filter asks for {', '.join(map(repr, types))}"
    documents = [filters.document_id] if isinstance(filters.document_id, str) else filters.document_id
    if documents is not None and chunk.document_id not in documents:
        return "filter", "the filter asks for other documents"
    lacking = [tag for tag in filters.tags or () if tag not in chunk.tags]
    if lacking:
        return "filter", f"it has not the tag {', '.join(map(repr, lacking))}"
    return None
