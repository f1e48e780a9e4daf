"""Feedback in the catalog for the public routes, and the golden questions that owners make of it."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.gateway.domain.golden import corrected
from services.gateway.ports.answering import KeptAnswer
from services.shared.catalog import feedback, golden
from services.shared.catalog.engine import Catalog
from services.shared.catalog.feedback import JudgedAnswer
from services.shared.contracts.golden import (
    Correction,
    Feedback,
    FeedbackList,
    FeedbackRequest,
    FeedbackState,
    GoldenIn,
    GoldenOrigin,
    GoldenQuestion,
    Verdict,
)
from services.shared.contracts.ids import SpaceId


class CatalogFeedback:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def add(self, space: SpaceId, answer: KeptAnswer, said: FeedbackRequest) -> Feedback:
        """Copy the answer from memory into the record, with the verdict."""

        def write() -> Feedback:
            judged = JudgedAnswer(
                answer.id, answer.question, answer.text, answer.status, answer.documents, answer.evidence
            )
            with self._catalog.write() as tx:
                return feedback.add(
                    tx,
                    space,
                    judged,
                    id=uuid.uuid4().hex,
                    verdict=said.verdict,
                    comment=said.comment,
                    now=datetime.now(UTC),
                )

        return await run_sync(write)

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[FeedbackState] | None,
        verdict: Verdict | None,
        limit: int,
        cursor: str | None,
    ) -> FeedbackList:
        """Newest first."""

        def read() -> FeedbackList:
            with self._catalog.read() as tx:
                return feedback.page(tx, space, states=states, verdict=verdict, limit=limit, cursor=cursor)

        return await run_sync(read)

    async def correct(self, space: SpaceId, id: str, correction: Correction) -> GoldenQuestion:
        """The golden question and the note that it was made, or neither."""

        def write() -> GoldenQuestion:
            with self._catalog.write() as tx:
                question = corrected(feedback.take(tx, space, id), correction)
                golden.put(tx, space, [GoldenIn(question=question)], GoldenOrigin.FEEDBACK, datetime.now(UTC))
                feedback.corrected(tx, space, id, question.id)
                made = golden.get(tx, space, question.id)
            assert made is not None
            return made

        return await run_sync(write)

    async def dismiss(self, space: SpaceId, id: str) -> Feedback:
        """Nothing is to be done about it."""

        def write() -> Feedback:
            with self._catalog.write() as tx:
                return feedback.dismissed(tx, space, id)

        return await run_sync(write)
