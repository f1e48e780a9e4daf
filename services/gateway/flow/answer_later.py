"""The story of a question that is answered later, as the asker sees it: take it, answer it as at once, keep the answer.

Whatever happens meanwhile, the job ends or waits again: it is cancelled, its time is over, a service is away, this
process is told to stop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial

from services.gateway.domain.asked_later import passes, reason_of
from services.gateway.flow.shared_ask import SharedAskFlow
from services.gateway.ports.answering import Clock
from services.gateway.ports.asked_later import AskLedger, Ending, LaterQuestion, Lease
from services.shared.contracts.answers import Answer, AskRequest, SourcesEvent, StageEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId

SLICE_S = 20.0
"""So long one ring goes on with further questions that wait: a bell that was lost then keeps nobody waiting."""

LOOK_EVERY_S = 0.1
BUSY_S = 2.0
"""Pause before a writer that had too much to do is asked again, where it does not say how long."""

GONE = "What was asked was taken out with a deleted document; ask again."
LATE = (
    "The answer took longer than {seconds:g} seconds and was ended; ask in parts, or raise RAGSTONE_JOB_TIME_LIMIT_S."
)


class AnswerLaterFlow:
    """Answers questions that wait. ``stopping`` says whether this process has been told to end."""

    def __init__(
        self, *, ask: SharedAskFlow, ledger: AskLedger, clock: Clock, limit_s: float, stopping: Callable[[], bool]
    ) -> None:
        self._ask = ask
        self._ledger = ledger
        self._clock = clock
        self._limit_s = limit_s
        self._stopping = stopping

    async def answer(self, job_id: JobId) -> None:
        """Answer the named question if it still waits, and for a while those that wait behind it."""
        began = self._clock()
        question = await self._ledger.claim(job_id)
        while question is not None:
            await self._one(question)
            if self._stopping() or self._clock() - began > SLICE_S:
                return
            question = await self._ledger.claim(None)

    async def _one(self, question: LaterQuestion) -> None:
        with self._ledger.hold(question.id) as lease:
            answering = asyncio.create_task(self._answered(question))
            try:
                too_soon = await self._watched(question, answering, lease)
            finally:
                # Closes the stream of whoever writes, which stops the model.
                answering.cancel()
                await asyncio.wait({answering})
        if too_soon is not None:
            await too_soon()
        elif (error := answering.exception()) is not None:
            await self._broke_off(question, error)

    async def _watched(
        self, question: LaterQuestion, answering: "asyncio.Task[None]", lease: Lease
    ) -> Callable[[], Awaitable[None]] | None:
        """Wait for the end; what is to be noted of the job when it came before the answer."""
        began = self._clock()
        while not (await asyncio.wait({answering}, timeout=LOOK_EVERY_S))[0]:
            if not lease.keeps(question.id):
                return partial(self._ledger.drop, question.id)
            if self._stopping():
                return partial(self._ledger.release, question)
            if self._clock() - began > self._limit_s:
                return partial(self._ledger.fail, question.id, LATE.format(seconds=self._limit_s))
        return None

    async def _answered(self, question: LaterQuestion) -> None:
        """Ask until there is an answer that may be kept."""
        if question.asked is None:
            raise RagstoneError(ErrorCode.INVALID_REQUEST, GONE)
        began = self._clock()
        ending = Ending.OVERTAKEN
        while ending is Ending.OVERTAKEN:
            try:
                since = await self._ledger.change_number(question.space)
                answer, documents = await self._asked(question, question.asked)
                ending = await self._ledger.answered(question.id, answer, documents, since)
            except RagstoneError as error:
                # A writer that is busy now is none that fails; others wait for it in a row too.
                if error.code is not ErrorCode.BUSY or self._clock() - began > self._limit_s / 2:
                    raise
                await asyncio.sleep(error.retry_after_s or BUSY_S)

    async def _asked(self, question: LaterQuestion, asked: AskRequest) -> tuple[Answer, set[DocumentId]]:
        """The answer, and the documents whose words it may hold."""
        documents: set[DocumentId] = set()
        sender = question.sender
        told = self._ask.events(question.space, asked, question.request_id, sender.payer, fresh=sender.fresh)
        async with aclosing(told) as events:
            async for event in events:
                if isinstance(event, StageEvent):
                    await self._ledger.stage(question.id, event.stage)
                elif isinstance(event, SourcesEvent):
                    for passage in event.passages:
                        documents |= {passage.document_id, *(also.document_id for also in passage.also_in)}
                elif isinstance(event, Answer):
                    return event, documents | {citation.document_id for citation in event.citations}
        raise AssertionError("an answer is always the last event")

    async def _broke_off(self, question: LaterQuestion, error: BaseException) -> None:
        if not isinstance(error, Exception):
            raise error
        if passes(error):
            await self._ledger.put_off(question.id, reason_of(error))
            return
        await self._ledger.fail(question.id, reason_of(error))
        if not isinstance(error, RagstoneError):
            raise error
