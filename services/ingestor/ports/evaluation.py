"""What evaluating needs from outside: the system as a client sees it, a judge, and the catalog's record."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.ingestor.ports.golden import GoldenContent
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.evaluation import Evaluation, EvaluationRequest, Outcome
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.evaluation.reviewers.judging import JudgePrompt


class SystemUnderTest(Protocol):
    """The public API of one space. Raises RagstoneError, with the gateway's own code."""

    def search(self, request: SearchRequest) -> SearchResponse: ...
    def ask(self, request: AskRequest) -> Answer: ...
    def text(self, document_id: DocumentId, version: VersionId | None) -> str | None:
        """The extracted text of a version, or of the live one; None when there is none."""

    def describe(self) -> dict[str, str]:
        """What its parts say of themselves: writer, retriever and so on."""


class Judge(Protocol):
    """A language model that judges answers; it is never the one that wrote them."""

    @property
    def name(self) -> str: ...
    def probe(self) -> None:
        """Raises RagstoneError (judge_unavailable) when it cannot be asked."""

    def ask(self, prompt: JudgePrompt) -> str:
        """JSON of the prompt's schema, as the model gave it. Raises RagstoneError (judge_unavailable)."""


class Likeness(Protocol):
    """Compares texts by meaning."""

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosine similarity of each to ``text``."""


@dataclass(frozen=True)
class Ordered:
    """An evaluation that was asked for."""

    id: str
    space: SpaceId
    request: EvaluationRequest
    questions: Sequence[Question]
    created_at: datetime


class EvaluationRecords(Protocol):
    """Evaluations in the catalog. Raises RagstoneError (catalog_unavailable, evaluation_not_found)."""

    def load(self, evaluation_id: str) -> Ordered: ...
    def asked(self, evaluation_id: str) -> set[tuple[str, str]]:
        """Question and variant of each outcome."""

    def outcomes(self, evaluation_id: str) -> list[Outcome]: ...
    def add(self, evaluation_id: str, outcomes: Sequence[Outcome]) -> None: ...
    def forget(self, evaluation_id: str) -> None:
        """Drop every outcome."""

    def earlier(self, ordered: Ordered) -> Evaluation | None:
        """What this one is to be compared with, if it is to be and if there is one."""

    def finish(self, evaluation: Evaluation, markdown: str, html: str) -> Evaluation | None:
        """Keep it with its reports. Where a document that it quotes was deleted meanwhile nothing is kept, and what
        is left of it comes back, to be kept with reports of its own."""


@dataclass(frozen=True)
class EvaluationTools:
    """What an evaluation works with, beside a worker's own tools."""

    records: EvaluationRecords
    system: Callable[[SpaceId], AbstractContextManager[SystemUnderTest]]
    judge: Judge | None
    likeness: Likeness
    content: GoldenContent
    described: dict[str, str]
    """Of this worker: version and the settings that decide."""
