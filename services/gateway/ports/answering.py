"""What answering a question needs from outside."""

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.gateway.domain.citations import TextOf
from services.shared.contracts.answers import AnswerStatus
from services.shared.contracts.golden import Evidence
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.contracts.writing import Decomposed, DecomposeRequest, WriteEvent, WriteRequest


class Retriever(Protocol):
    """Finds passages."""

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Raises RagstoneError (retriever_unavailable among others)."""
        ...


class Generator(Protocol):
    """Writes sentences from passages, and takes questions apart."""

    async def decompose(self, request: DecomposeRequest) -> Decomposed:
        """The parts of a question; raises RagstoneError."""
        ...

    def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        """Yields sentences and at last a WritingDone; closing it stops the writing. Raises RagstoneError."""
        ...


class LiveTexts(Protocol):
    """The catalog's word on what may be said."""

    async def live_texts(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        """The extracted texts of those versions that are live at this moment; others are left out."""
        ...


@dataclass(frozen=True)
class KeptAnswer:
    """What is remembered of an answer for a while, so that a person can judge it."""

    id: str
    question: str
    text: str
    status: AnswerStatus
    documents: Sequence[DocumentId]
    """Those whose words it holds: those that it cites, or whose titles it names."""
    evidence: Evidence | None = None
    of_content: bool = False
    """Does it tell how well the content answers the question? Not where only a part was asked, no answer was due,
    or the question does not say by itself what was asked."""


class Answers(Protocol):
    """Answers of the last hours, in no record."""

    def keep(self, space: SpaceId, answer: KeptAnswer) -> None:
        """Neither waits nor fails: an answer that is not kept cannot be judged, and that is all."""
        ...

    async def find(self, space: SpaceId, id: str) -> KeptAnswer | None:
        """None when it is not there (any more); raises RagstoneError (queue_unavailable)."""
        ...


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float: ...
