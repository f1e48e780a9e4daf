"""One call of retrieval under way: what is settled, and what is learned once and used by every search of it."""

import asyncio
from dataclasses import dataclass, field

from services.retriever.domain.hits import SpaceState
from services.retriever.domain.limits import Limits
from services.retriever.domain.plan import Plan
from services.retriever.domain.stopwatch import Stopwatch
from services.retriever.ports import Embedded
from services.shared.contracts.errors import ErrorCode, RagstoneError

DEGRADES = {
    ErrorCode.VECTOR_STORE_UNAVAILABLE: "vector_unavailable",
    ErrorCode.MODEL_UNAVAILABLE: "model_unavailable",
    ErrorCode.RETRIEVER_UNAVAILABLE: "bm25_unavailable",
    ErrorCode.INDEX_INCOMPATIBLE: "index_incompatible",
}
"""Failures that the other index can answer for, and what the response calls them."""


@dataclass
class Run:
    """The call's plan and limits, and which index failed in it."""

    plan: Plan
    state: SpaceState
    limits: Limits
    watch: Stopwatch
    embedded: "asyncio.Future[Embedded] | None" = None
    """The questions' vectors, begun before anything else is asked; None when no vectors are wanted."""
    failures: dict[str, RagstoneError] = field(default_factory=dict)
    """By index, ``vector`` or ``bm25``: one that failed is not asked again in this call."""
    incomplete: bool = False
    """The vector store lacks vectors of live chunks."""
    silent: bool = False
    """A search of the vectors found nothing, or failed: the index may have been deleted meanwhile."""
    unjudged: bool = False
    """The critic was to judge and could not."""

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
        if self.incomplete:
            names.add("vectors_incomplete")
        if self.unjudged:
            names.add("critic_unavailable")
        return sorted(names)
