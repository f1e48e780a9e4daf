"""What one call of retrieval is going to do, decided from the request and the settings."""

import hashlib
from dataclasses import dataclass

from services.retriever.domain.depth import Depth, choose_depth
from services.retriever.domain.fusion import Fusion
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId
from services.shared.contracts.search import Filters, FusionName, RetrieveRequest, Stages


@dataclass(frozen=True)
class Switches:
    """Which parts run."""

    vector: bool
    bm25: bool
    gate: bool
    critic: bool
    diversity: bool


@dataclass(frozen=True)
class Tuning:
    """The service's settings, as far as they decide about passages. None: nobody set it by hand."""

    switches: Switches
    fusion: Fusion | None = None
    gate_distance: float | None = None
    gate_coverage: float = 0.7
    bm25_floor: float | None = None
    critic_cut: float | None = None
    answerable: float | None = None

    def deciding(self) -> str:
        """Stands for all of it: another one with any other setting."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """One call: the question and its sub-questions, how deep, which parts, how many passages, without what."""

    space: SpaceId
    questions: tuple[str, ...]
    named: str | None
    """A wording for gate and verdict that ranks nothing; None where it is one of the questions."""
    filters: Filters | None
    top_k: int
    depth: Depth
    switches: Switches
    fusion: FusionName | None
    without: frozenset[ChunkId]
    only_relevant: bool
    expect: DocumentId | None
    index: IndexId | None
    """The index to search; None is the one that serves."""

    @property
    def embedded(self) -> tuple[str, ...]:
        """What vectors are searched with: the questions, and behind them what ranks nothing."""
        return self.questions if self.named is None else (*self.questions, self.named)


def make_plan(request: RetrieveRequest, tuning: Tuning) -> Plan:
    """Settle the switches, the depth and the questions (blank and repeated sub-questions are left out).

    Raises: RagstoneError when there is no question, or nothing may search for it.
    """
    if not request.question.strip():
        raise RagstoneError(ErrorCode.QUESTION_EMPTY, "The question is empty; send some words.")
    switches = _switched(request.stages, tuning.switches)
    if not (switches.vector or switches.bm25):
        detail = "stages: both vector and bm25 are off, so nothing can be found; leave at least one of them on."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    asked = [request.question, *(one for one in request.sub_questions if one.strip())]
    questions = tuple(dict.fromkeys(asked))
    named = (request.named or "").strip()
    return Plan(
        space=request.space,
        questions=questions,
        named=named if named and named not in questions else None,
        filters=request.filters,
        top_k=request.top_k,
        depth=choose_depth(request.question, request.top_k),
        switches=switches,
        fusion=request.stages.fusion if request.stages else None,
        without=frozenset(request.without),
        only_relevant=request.only_relevant,
        expect=request.expect,
        index=request.index,
    )


def without_type(filters: Filters) -> Filters:
    """The same filters, open to every type."""
    return filters.model_copy(update={"type": None})


def _switched(stages: Stages | None, default: Switches) -> Switches:
    if stages is None:
        return default
    return Switches(
        vector=default.vector if stages.vector is None else stages.vector,
        bm25=default.bm25 if stages.bm25 is None else stages.bm25,
        gate=default.gate if stages.gate is None else stages.gate,
        critic=default.critic if stages.critic is None else stages.critic,
        diversity=default.diversity if stages.diversity is None else stages.diversity,
    )
