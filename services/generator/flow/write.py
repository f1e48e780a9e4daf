"""How an answer is written: by the model with every sentence checked, or verbatim from the passages."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from services.generator.domain import support
from services.generator.domain.denials import denial
from services.generator.domain.model_text import SentenceCutter, Written
from services.generator.domain.prompt import Prompt, estimate_tokens
from services.generator.flow.aiming import Aim
from services.generator.flow.checking import Checker
from services.generator.flow.fitting import Fitter
from services.generator.flow.verbatim import VerbatimFlow
from services.generator.flow.writing import Writing
from services.generator.ports import Budget, Piece, Scorer, Writer
from services.shared.contracts.answers import Usage, WriterModel
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone

Event = SentenceWritten | WritingDone
LETTERS_A_TOKEN = 8
"""A server that writes more than this many code points for each token it was allowed does not keep to the limit."""
EXTRACTIVE = WriterModel(writer="extractive", name=None)


class WriteFlow:
    """One writing for each request; ``writer`` is None where only the extractive writer is wanted.

    ``threshold`` is the least confidence of a verbatim answer; the other two are the Checker's. After ``silence_s``
    without a sentence the passages speak for themselves. ``note`` takes (what happened, why) for the operator's log.
    """

    def __init__(
        self,
        *,
        scorer: Scorer,
        writer: Writer | None,
        budget: Budget,
        threshold: float,
        support_threshold: float,
        grounding_threshold: float = support.GROUNDED,
        silence_s: float | None = None,
        note: Callable[[str, str], None],
    ) -> None:
        self._writer = writer
        self._budget = budget
        self._silence_s = silence_s
        self._verbatim_flow = VerbatimFlow(scorer=scorer, threshold=threshold)
        self._checker = Checker(
            scorer=scorer, support_threshold=support_threshold, grounding_threshold=grounding_threshold, note=note
        )
        self._fitter = Fitter()
        self._note = note

    def begin(self, request: WriteRequest) -> AsyncGenerator[Event, None]:
        """The events of a writing; raises RagstoneError(BUSY) here, before anything was sent."""
        if self._writer and self._writer.state().ready and request.passages:
            self._writer.check_room()
        return self._write(request)

    async def _write(self, request: WriteRequest) -> AsyncGenerator[Event, None]:
        writing = Writing(request, request.passages)
        writer = await self._able(writing)
        if writer:
            async with aclosing(self._by_model(writing, writer)) as events:
                async for event in events:
                    yield event
            if "writer_failed" not in writing.degraded:
                return
        async with aclosing(self._verbatim(writing)) as events:
            async for event in events:
                yield event

    async def _able(self, writing: Writing) -> Writer | None:
        """The model if it is to write this: it is there, there is something to write from, and somebody pays."""
        writer = self._writer
        if not writer or not (writer.state().ready and writing.request.passages):
            if writer and writer.wanted and not writer.state().ready:
                writing.degrade("writer_fallback")
            return None
        if not await self._budget.left(writing.request.client, writing.request.daily_tokens):
            writing.degrade("budget_spent")
            return None
        return writer

    async def _verbatim(self, writing: Writing) -> AsyncGenerator[Event, None]:
        """Sentences of the passages, word for word; after a failed model, what it had not said yet."""

        def degrade(what: str, why: str) -> None:
            self._note(what, why)
            writing.degrade(what)

        choice = await self._verbatim_flow.choose(writing.request, said=tuple(writing.sent), degrade=degrade)
        for sentence in choice.sentences:
            writing.sent.append(sentence)
            yield sentence
        yield writing.done(EXTRACTIVE, choice.confidence)

    async def _by_model(self, writing: Writing, writer: Writer) -> AsyncGenerator[Event, None]:
        """The model's sentences that hold; leaves "writer_failed" in degraded when it could not finish."""
        prompt = await self._fitter.fit(writing.request, writer)
        if not prompt.used:
            why = "The first passage does not fit the model's window; raise RAGSTONE_NUM_CTX and the server's own."
            self._note("writer_failed", why)
            writing.degrade("writer_failed")
            return
        if prompt.used < len(writing.request.passages):
            writing.degrade("passages_dropped")
        writing.passages = writing.request.passages[: prompt.used]
        writing.rules = prompt.system
        if said := denial(writing.request.question, writing.passages, writing.request.subject):
            writing.denial = said.spans[0].passage
            writing.sent.append(said)
            yield said
        aim = self._checker.aim(writing)
        try:
            async with aclosing(self._spoken(writing, writer, prompt, aim)) as sentences:
                while sentence := await self._next(sentences):
                    yield sentence
        except RagstoneError as error:
            if error.code is ErrorCode.BUSY:
                raise
            self._note("writer_failed", error.detail)
            writing.degrade("writer_failed")
            return
        finally:
            await aim.close()
        confidence = writing.held() * aim.certainty * await self._checker.on_topic(writing)
        yield writing.done(WriterModel(writer=writer.kind, name=writer.name), confidence)

    async def _next(self, sentences: AsyncGenerator[SentenceWritten, None]) -> SentenceWritten | None:
        """The next sentence, None after the last; who asked waits only so long, for bad words as for none."""
        try:
            async with asyncio.timeout(self._silence_s):
                return await anext(sentences, None)
        except TimeoutError:
            why = f"The model wrote nothing that holds for {self._silence_s} s; a smaller model would be faster."
            raise RagstoneError(ErrorCode.WRITER_UNAVAILABLE, why) from None

    async def _spoken(
        self, writing: Writing, writer: Writer, prompt: Prompt, aim: Aim
    ) -> AsyncGenerator[SentenceWritten, None]:
        """Each sentence as soon as the model has finished it and it has been checked; then the tokens are paid."""
        cutter, spoken = SentenceCutter(prompt.used), ""
        most = LETTERS_A_TOKEN * writer.window[1]
        try:
            async with aclosing(writer.write(prompt)) as pieces:
                async for piece in pieces:
                    spoken += piece.text
                    too_much = len(spoken) > most
                    ready = cutter.feed(piece.text[: most - len(spoken)] if too_much else piece.text)
                    if piece.end or too_much:
                        end = replace(piece, end="length") if too_much else piece
                        self._ended(writing, prompt, end)
                        ready += cutter.finish(cut_off=end.end == "length")
                    async with aclosing(self._checked(writing, ready, aim)) as sentences:
                        async for sentence in sentences:
                            yield sentence
                    if writing.finished or too_much:
                        return
        except RagstoneError:
            # What was whole before the model broke off holds all the same.
            async with aclosing(self._checked(writing, cutter.finish(cut_off=True), aim)) as sentences:
                async for sentence in sentences:
                    yield sentence
            raise
        finally:
            used = writing.usage.prompt + writing.usage.answer
            tokens = used or prompt.tokens + estimate_tokens(spoken)
            await self._budget.spend(writing.request.client, tokens, writing.request.daily_tokens)

    async def _checked(
        self, writing: Writing, ready: Sequence[Written], aim: Aim
    ) -> AsyncGenerator[SentenceWritten, None]:
        for written in ready:
            for sentence in await self._checker.check(writing, written, aim):
                yield sentence
            if writing.finished:
                return

    def _ended(self, writing: Writing, prompt: Prompt, last: Piece) -> None:
        if last.end == "length":
            writing.degrade("answer_cut")
        writing.usage = Usage(prompt=last.prompt_tokens, answer=last.answer_tokens)
        self._fitter.learn(prompt, last.prompt_tokens)
