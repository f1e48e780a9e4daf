"""Taking a question apart: a help that may fail, and never holds an answer up for long."""

import asyncio

from services.gateway.domain.callers import PUBLIC_PAYER, Payer
from services.gateway.domain.parts import Parts, sound_parts
from services.gateway.ports.answering import Clock, Generator
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.writing import DecomposeRequest

SKIPPED = "decomposition_skipped"
"""Said in ``degraded`` when a question was to be taken apart and could not be."""


class Apart:
    """Asks the generator for the parts of a question."""

    def __init__(
        self, *, generator: Generator, language: str, wait_s: float, question_max_chars: int, clock: Clock
    ) -> None:
        self._generator = generator
        self._language = language
        self._wait_s = wait_s
        self._question_max_chars = question_max_chars
        self._clock = clock

    async def parts(self, question: str, payer: Payer = PUBLIC_PAYER) -> Parts:
        """The parts; none, and that it was skipped, when the generator fails or does not answer in time."""
        began = self._clock()
        request = DecomposeRequest(
            question=question, language=self._language, client=payer.client, daily_tokens=payer.daily_tokens
        )
        try:
            async with asyncio.timeout(self._wait_s):
                told = await self._generator.decompose(request)
        except (RagstoneError, TimeoutError):
            return Parts(degraded=(SKIPPED,), ms=self._ms_since(began))
        sub_questions = sound_parts(question, told.sub_questions, self._question_max_chars)
        return Parts(sub_questions, told.by, tuple(told.degraded), self._ms_since(began))

    def _ms_since(self, moment: float) -> float:
        return round(1000 * (self._clock() - moment), 1)
