"""Fakes of the gateway's records: evaluations, golden questions, feedback, and the answers it can be given on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from services.gateway.domain.golden import corrected
from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.calibration import CalibrationRequest, CalibrationState
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import (
    Evaluation,
    EvaluationList,
    EvaluationRequest,
    StartedEvaluation,
)
from services.shared.contracts.golden import (
    Correction,
    Feedback,
    FeedbackList,
    FeedbackRequest,
    FeedbackState,
    GoldenImport,
    GoldenImported,
    GoldenIn,
    GoldenList,
    GoldenMakeRequest,
    GoldenOrigin,
    GoldenQuestion,
    GoldenState,
    Verdict,
)
from services.shared.contracts.ids import JobId, SpaceId
from tests.unit.gateway.messages import NOON


@dataclass
class FakeAnswers:
    kept: dict[tuple[SpaceId, str], KeptAnswer] = field(default_factory=dict)
    away: bool = False

    def keep(self, space: SpaceId, answer: KeptAnswer) -> None:
        self.kept[(space, answer.id)] = answer

    async def find(self, space: SpaceId, id: str) -> KeptAnswer | None:
        if self.away:
            raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, "Redis does not answer; start it.", retry_after_s=2)
        return self.kept.get((space, id))


@dataclass
class FakeEvaluations:
    ordered: list[tuple[SpaceId, EvaluationRequest]] = field(default_factory=list)
    finished: dict[tuple[SpaceId, str], tuple[Evaluation, str, str]] = field(default_factory=dict)
    golden: int = 0
    """Approved questions of every space."""

    async def start(self, space: SpaceId, request: EvaluationRequest, request_id: str) -> StartedEvaluation:
        if request.questions is None and not self.golden:
            raise RagstoneError(ErrorCode.GOLDEN_SET_EMPTY, "Nothing to ask; ragstone golden make.")
        self.ordered.append((space, request))
        number = self.golden if request.questions is None else len(request.questions)
        return StartedEvaluation(id="e1", job_id=JobId("je1"), questions=number)

    async def page(self, space: SpaceId, *, limit: int, cursor: str | None) -> EvaluationList:
        return EvaluationList(items=[], next_cursor=None)

    async def one(self, space: SpaceId, id: str) -> Evaluation:
        return self._known(space, id)[0]

    async def report(self, space: SpaceId, id: str, form: Literal["html", "markdown"]) -> str:
        _, html, markdown = self._known(space, id)
        return html if form == "html" else markdown

    def _known(self, space: SpaceId, id: str) -> tuple[Evaluation, str, str]:
        if (space, id) not in self.finished:
            raise RagstoneError(ErrorCode.EVALUATION_NOT_FOUND, f"no evaluation {id}")
        return self.finished[(space, id)]


@dataclass
class FakeGolden:
    items: dict[SpaceId, list[GoldenIn]] = field(default_factory=dict)
    wanted: list[tuple[SpaceId, GoldenMakeRequest]] = field(default_factory=list)

    async def put(self, space: SpaceId, sent: GoldenImport) -> GoldenImported:
        self.items.setdefault(space, []).extend(sent.items)
        return GoldenImported(added=len(sent.items), replaced=0, unchanged=0, flagged=0)

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[GoldenState] | None,
        flagged: bool | None,
        limit: int,
        cursor: str | None,
    ) -> GoldenList:
        shown = [one for one in self.items.get(space, []) if states is None or one.state in states]
        items = [_golden(one) for one in shown if flagged is not True]
        return GoldenList(items=items[:limit], next_cursor=None, counts={})

    async def remove(self, space: SpaceId, id: str) -> None:
        mine = self.items.get(space, [])
        left = [one for one in mine if one.question.id != id]
        if len(left) == len(mine):
            raise RagstoneError(ErrorCode.GOLDEN_NOT_FOUND, f"no golden question {id}")
        self.items[space] = left

    async def make(self, space: SpaceId, wanted: GoldenMakeRequest, request_id: str) -> JobId:
        self.wanted.append((space, wanted))
        return JobId("jg1")


@dataclass
class FakeCalibrations:
    wanted: list[tuple[SpaceId, CalibrationRequest]] = field(default_factory=list)
    states: dict[SpaceId, CalibrationState] = field(default_factory=dict)
    refusal: RagstoneError | None = None

    async def start(self, space: SpaceId, wanted: CalibrationRequest, request_id: str) -> JobId:
        if self.refusal is not None:
            raise self.refusal
        self.wanted.append((space, wanted))
        return JobId("jc1")

    async def state(self, space: SpaceId) -> CalibrationState:
        return self.states.get(space, CalibrationState(calibration=None, stale=None))

    async def forget(self, space: SpaceId) -> None:
        self.states.pop(space, None)


@dataclass
class FakeFeedback:
    said: dict[tuple[SpaceId, str], Feedback] = field(default_factory=dict)

    async def add(self, space: SpaceId, answer: KeptAnswer, said: FeedbackRequest) -> Feedback:
        feedback = Feedback(
            id=f"f{len(self.said)}",
            answer_id=answer.id,
            question=answer.question,
            answer_text=answer.text,
            answer_status=answer.status,
            verdict=said.verdict,
            comment=said.comment,
            state=FeedbackState.OPEN,
            golden_id=None,
            evidence=answer.evidence,
            created_at=NOON,
        )
        self.said[(space, feedback.id)] = feedback
        return feedback

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[FeedbackState] | None,
        verdict: Verdict | None,
        limit: int,
        cursor: str | None,
    ) -> FeedbackList:
        mine = [one for (where, _), one in self.said.items() if where == space]
        shown = [one for one in mine if (states is None or one.state in states) and verdict in (None, one.verdict)]
        return FeedbackList(items=shown[:limit], next_cursor=None)

    async def correct(self, space: SpaceId, id: str, correction: Correction) -> GoldenQuestion:
        question = corrected(self._known(space, id), correction)
        return _golden(GoldenIn(question=question), GoldenOrigin.FEEDBACK)

    async def dismiss(self, space: SpaceId, id: str) -> Feedback:
        changed = self._known(space, id).model_copy(update={"state": FeedbackState.DISMISSED})
        self.said[(space, id)] = changed
        return changed

    def _known(self, space: SpaceId, id: str) -> Feedback:
        if (space, id) not in self.said:
            raise RagstoneError(ErrorCode.FEEDBACK_NOT_FOUND, f"no feedback {id}")
        return self.said[(space, id)]


def _golden(one: GoldenIn, origin: GoldenOrigin = GoldenOrigin.OWNER) -> GoldenQuestion:
    return GoldenQuestion(question=one.question, state=one.state, origin=origin, flagged=None, updated_at=NOON)
