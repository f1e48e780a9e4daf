"""Questions, answers and evaluations in few words."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, Citation, Claim, WriterModel
from services.shared.contracts.evaluation import Evaluation, EvaluationRequest, Outcome, Review
from services.shared.contracts.golden import Behaviour, Question
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.contracts.search import IndexState
from services.shared.evaluation.summary import summarise


def question(id: str, **fields: Any) -> Question:
    """A question with one fact, unless told otherwise."""
    return Question(**{"id": id, "text": f"What is {id}?", "facts": [["yes"]], **fields})


def evaluation(
    outcomes: Sequence[Outcome], *, id: str = "one", questions: Sequence[Question] | None = None, **fields: Any
) -> Evaluation:
    """Of these outcomes, with a question for each id unless they are given."""
    asked = questions or [question(name) for name in dict.fromkeys(one.question_id for one in outcomes)]
    return summarise(
        evaluation_id=id,
        space="main",
        request=EvaluationRequest(**fields),
        questions=asked,
        outcomes=outcomes,
        system={"index": "i1"},
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def run(values: Sequence[Mapping[str, float]], *, id: str = "one") -> Evaluation:
    """Questions q0, q1, … with these values; nothing is summed up."""
    outcomes = [Outcome(question_id=f"q{n}", values=dict(one)) for n, one in enumerate(values)]
    questions = [question(one.question_id) for one in outcomes]
    return evaluation([], id=id, questions=questions).model_copy(update={"outcomes": outcomes})


def review(reviewer: str, passed: bool, *, by: str = "rule", score: float | None = None) -> Review:
    return Review(reviewer=reviewer, by=by, passed=passed, score=float(passed) if score is None else score)


def cited(document: str, start: int, end: int) -> Citation:
    return Citation(
        n=1,
        document_id=DocumentId(document),
        version=VersionId("v"),
        title=document,
        source=None,
        section="",
        type=None,
        chunk_id=ChunkId("v-00000"),
        start=start,
        end=end,
        quote="x" * (end - start),
        url="/",
    )


def claim(supported: bool = True) -> Claim:
    return Claim(text="yes", supported=supported, score=1.0, citations=[1])


def answer(
    status: AnswerStatus = AnswerStatus.ANSWERED,
    *,
    reason: AnswerReason | None = None,
    citations: Sequence[Citation] = (),
    claims: Sequence[Claim] = (),
    trace: dict[str, Any] | None = None,
) -> Answer:
    return Answer(
        id="a",
        status=status,
        text="yes",
        reason=reason,
        confidence=0.9,
        citations=list(citations),
        claims=list(claims),
        sub_questions=[],
        passages_used=[],
        degraded=[],
        model=WriterModel(writer="extractive", name=None),
        index=IndexState(id=None, embedder=None, seq=1),
        timings_ms={},
        trace_id="t",
        trace=trace,
    )


ABSTAIN, DECLINE = Behaviour.ABSTAIN, Behaviour.DECLINE
