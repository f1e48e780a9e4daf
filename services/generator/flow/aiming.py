"""Compares a model's sentences with what was asked; looks the passages' own up while the model still reads."""

import asyncio
from collections.abc import Sequence

from services.generator.domain import aim
from services.generator.domain.aim import Mark
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import candidates
from services.generator.domain.model_text import Written
from services.generator.domain.parts import parts
from services.generator.flow.writing import Writing
from services.generator.ports import Scorer
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.search import TextScore
from services.shared.contracts.writing import Span


class Aim:
    """The aim of one writing; made once its passages are known, and closed at its end.

    Without the retriever's scores nothing is beside the point: words alone do not tell.
    """

    def __init__(self, scorer: Scorer, writing: Writing) -> None:
        self._scorer = scorer
        self._writing = writing
        request = writing.request
        self._asked = [aim.asked_of(part, request.subject) for part in parts(request.question, request.sub_questions)]
        self._marks = asyncio.create_task(self._look())

    async def misses(self, written: Written, spans: Sequence[Span]) -> bool:
        """Whether the sentence speaks of no part of the question, though others of the passages do.

        Rows, code, and items of a list that is wanted whole say little by themselves; they are let pass.
        """
        if written.kind != "prose" or (written.listed and any(asked.wants_all for asked in self._asked)):
            return False
        marks = await self._marks
        return bool(marks) and all(aim.misses(spans, mark) for mark in marks)

    def adds_nothing(self, written: Written, spans: Sequence[Span]) -> bool:
        """Whether a sentence only says again what was asked."""
        request = self._writing.request
        known = "\n".join([request.question, *request.sub_questions, *request.subject])
        return written.kind == "prose" and aim.adds_nothing(
            written.claim, spans, self._writing.passages, self._asked, known
        )

    @property
    def certainty(self) -> float:
        """What of a confidence is left, by what the passages speak of at all."""
        return aim.certainty(self._asked, self._writing.passages)

    async def close(self) -> None:
        """Stop looking."""
        self._marks.cancel()
        await asyncio.gather(self._marks, return_exceptions=True)

    async def _look(self) -> list[Mark]:
        passages = self._writing.passages
        found = candidates(self._writing.request.question, passages)
        texts = [one.scored for one in found]
        marks = []
        for asked in self._asked:
            scores = await self._scores(asked, texts)
            if not scores:
                return []
            marks.append(aim.mark(asked, passages, found, scores))
        return marks

    async def _scores(self, asked: Asked, texts: list[str]) -> list[TextScore]:
        try:
            return await self._scorer.score(self._writing.request.space, asked.text, texts) if texts else []
        except RagstoneError:
            return []  # on_topic() asks once more, and tells it
