"""Fakes of what an evaluation asks: a system with one document, a record in memory, a judge that says one thing."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from services.ingestor.ports.evaluation import EvaluationTools, Ordered
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Evaluation, EvaluationRequest, Outcome
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.evaluation.reviewers.judging import JudgePrompt
from tests.unit.ingestor.fake_golden import FakeGoldenContent

TEXT = "The pool opens at seven. Towels are lent at the desk."
NO_INDEX = {"id": None, "embedder": None, "seq": 0}
INDEX = {"id": "i1", "embedder": "e", "seq": 1}


class FakeSystem:
    """Finds the one document for every question, and answers those that name the pool."""

    def __init__(self) -> None:
        self.searched: list[SearchRequest] = []
        self.asked: list[AskRequest] = []
        self.errors: dict[str, RagstoneError] = {}
        self.live_text = TEXT
        self.unasked: set[str] = set()
        """Questions that are declined before anything is searched."""
        self.quote = "The pool opens at seven."
        self.spaces: list[SpaceId] = []
        self.describe_error: RagstoneError | None = None
        self.after_call: Callable[[], None] = lambda: None

    @contextmanager
    def __call__(self, space: SpaceId) -> Iterator["FakeSystem"]:
        self.spaces.append(space)
        yield self

    def search(self, request: SearchRequest) -> SearchResponse:
        self._called(request.question)
        self.searched.append(request)
        passage: dict[str, Any] = {
            "chunk_id": "v-00000", "document_id": "pool.md", "version": "v", "title": "Pool", "section": "Hours",
            "type": None, "text": TEXT, "lead": 0, "start": 0, "end": len(TEXT), "source": None, "tags": [],
            "kind": "fact", "score": 0.1, "distance": 0.2, "bm25": 1.0, "critic": None, "ranks": {"bm25:0": 1},
        }  # fmt: skip
        gate = "good" if "pool" in request.question else "poor"
        return SearchResponse.model_validate(
            {
                "passages": [passage], "verdict": {"answerable": 0.8, "gate": gate, "reason": ""},
                "sub_questions": [], "degraded": [], "index": INDEX, "timings_ms": {"embed": 7.0}, "trace": None,
            }
        )  # fmt: skip

    def ask(self, request: AskRequest) -> Answer:
        self._called(request.question)
        self.asked.append(request)
        answered = "pool" in request.question
        index = NO_INDEX if request.question in self.unasked else INDEX
        citation = {
            "n": 1, "document_id": "pool.md", "version": "v", "title": "Pool", "source": None, "section": "Hours",
            "type": None, "chunk_id": "v-00000", "start": 0, "end": len(self.quote), "quote": self.quote, "url": "/x",
        }  # fmt: skip
        claim = {"text": "The pool opens at seven.", "supported": True, "score": 0.9, "citations": [1]}
        return Answer.model_validate(
            {
                "id": "a1", "status": "answered" if answered else "abstained",
                "text": "The pool opens at seven. [1]" if answered else "The documents I have do not answer that.",
                "reason": None if answered else "nothing_relevant", "confidence": 0.9 if answered else 0.1,
                "citations": [citation] if answered else [], "claims": [claim] if answered else [],
                "sub_questions": [], "passages_used": [], "degraded": [],
                "model": {"writer": "openai", "name": "small-writer"}, "index": index,
                "timings_ms": {"total": 30.0}, "trace_id": "t", "trace": None,
            }
        )  # fmt: skip

    def text(self, document_id: DocumentId, version: VersionId | None) -> str | None:
        if document_id != "pool.md":
            return None
        return TEXT if version else self.live_text

    def describe(self) -> dict[str, str]:
        if self.describe_error:
            raise self.describe_error
        return {"writer": "openai: small-writer"}

    def _called(self, question: str) -> None:
        self.after_call()
        if question in self.errors:
            raise self.errors[question]


class FakeJudge:
    def __init__(self, name: str = "a-judge") -> None:
        self.name = name
        self.asked: list[JudgePrompt] = []
        self.away: RagstoneError | None = None
        self.lost: RagstoneError | None = None

    def probe(self) -> None:
        if self.away:
            raise self.away

    def ask(self, prompt: JudgePrompt) -> str:
        if self.lost:
            raise self.lost
        self.asked.append(prompt)
        values: dict[str, Any] = {"reason": "as expected"}
        for name, form in prompt.schema["properties"].items():
            if name != "reason":
                values[name] = form["enum"][0] if "enum" in form else True
        return json.dumps(values)


class FakeRecords:
    """One evaluation, and what it is compared with."""

    def __init__(self) -> None:
        self.ordered: Ordered | None = None
        self.stored: dict[tuple[str, str], Outcome] = {}
        self.before: Evaluation | None = None
        self.finished: tuple[Evaluation, str, str] | None = None

    def order(self, questions: Sequence[Question], **request: Any) -> None:
        wanted = EvaluationRequest(**request)
        self.ordered = Ordered("e1", SpaceId("main"), wanted, questions, datetime(2026, 11, 1, tzinfo=UTC))

    def load(self, evaluation_id: str) -> Ordered:
        if self.ordered is None or evaluation_id != self.ordered.id:
            raise RagstoneError(ErrorCode.EVALUATION_NOT_FOUND, f"There is no evaluation {evaluation_id}.")
        return self.ordered

    def asked(self, evaluation_id: str) -> set[tuple[str, str]]:
        return set(self.stored)

    def outcomes(self, evaluation_id: str) -> list[Outcome]:
        return list(self.stored.values())

    def add(self, evaluation_id: str, outcomes: Sequence[Outcome]) -> None:
        self.stored |= {(outcome.question_id, outcome.variant): outcome for outcome in outcomes}

    def forget(self, evaluation_id: str) -> None:
        self.stored.clear()

    def earlier(self, ordered: Ordered) -> Evaluation | None:
        return self.before if ordered.request.against else None

    def finish(self, evaluation: Evaluation, markdown: str, html: str) -> Evaluation | None:
        self.finished = evaluation, markdown, html
        return None


def evaluation_tools(records: FakeRecords, system: FakeSystem, judge: FakeJudge | None = None) -> EvaluationTools:
    return EvaluationTools(
        records=records,
        system=system,
        judge=judge,
        likeness=lambda text, others: [0.5] * len(others),
        content=FakeGoldenContent([]),
        described={"version": "1"},
    )
