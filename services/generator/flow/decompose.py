"""How a question is taken apart: by the model while one is ready, else by rule."""

import asyncio
from collections.abc import Callable

from services.generator.domain import decomposition, splitting
from services.generator.domain.prompt import estimate_tokens
from services.generator.ports import Budget, Writer
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.writing import Decomposed, DecomposeRequest

QUESTION_MAX = 2000
"""Longer questions, in characters, are searched as they are: they are texts rather than compound questions."""
REST_S = 300
"""A model that was too slow once is so again: each try costs its whole limit, and the server its cached prompt."""


class DecomposeFlow:
    """One question at a time; never an error, at worst no parts.

    The model has ``timeout_s`` seconds, the wait for its turn included. ``note`` takes (what happened, why) for the
    operator's log.
    """

    def __init__(
        self, *, writer: Writer | None, budget: Budget, timeout_s: float, note: Callable[[str, str], None]
    ) -> None:
        self._writer = writer
        self._budget = budget
        self._timeout_s = timeout_s
        self._note = note
        self._rest_until = 0.0
        self.fallbacks = 0
        """Replies since the start that were missing or had to be mended."""

    async def decompose(self, request: DecomposeRequest) -> Decomposed:
        """The parts of the question."""
        if len(request.question) > QUESTION_MAX or len(request.question.split()) < 3:
            return Decomposed(sub_questions=[], by="none", degraded=[])
        if self._writer is None or not self._writer.state().ready:
            return _by_rule(request.question)
        if not await self._budget.left(request.client, request.daily_tokens):
            return _by_rule(request.question, "budget_spent")
        now = asyncio.get_running_loop().time
        if now() < self._rest_until:
            return _by_rule(request.question, "decomposition_skipped")
        try:
            async with asyncio.timeout(self._timeout_s):
                parts = await self._by_model(self._writer, request)
        except TimeoutError:
            self._rest_until = now() + REST_S
            self._fall_back(f"the model took longer than {self._timeout_s:g} s and is not asked for {REST_S} s")
            parts = None
        except RagstoneError as error:
            self._fall_back(error.detail)
            parts = None
        if parts is None:
            return _by_rule(request.question, "decomposition_skipped")
        return Decomposed(sub_questions=list(parts), by="model" if parts else "none", degraded=[])

    async def _by_model(self, writer: Writer, request: DecomposeRequest) -> tuple[str, ...] | None:
        """What the model's reply holds; None where nothing of it could be used."""
        prompt = decomposition.ask(request.question)
        schema = None if writer.obeys_schema is False else decomposition.SCHEMA
        reply = await writer.complete(prompt, schema, decomposition.MAX_TOKENS)
        read = reply.prompt_tokens or prompt.tokens
        tokens = read + (reply.answer_tokens or estimate_tokens(reply.text))
        await self._budget.spend(request.client, tokens, request.daily_tokens)
        reading = decomposition.read(reply.text, request.question)
        if reading.fault:
            self._fall_back(reading.fault)
        return None if reading.fault and not reading.parts else reading.parts

    def _fall_back(self, why: str) -> None:
        self.fallbacks += 1
        self._note("decomposition_fallback", f"{why} ({self.fallbacks} since the start)")


def _by_rule(question: str, *degraded: str) -> Decomposed:
    parts = splitting.split(question)
    return Decomposed(sub_questions=list(parts), by="rule" if parts else "none", degraded=list(degraded))
