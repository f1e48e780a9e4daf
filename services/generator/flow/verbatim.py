"""The answer without a language model: sentences of the passages, word for word."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from services.generator.domain import extractive, terms
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import candidates
from services.generator.domain.extractive import Choice, Part
from services.generator.domain.parts import parts
from services.generator.ports import Scorer
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.search import TextScore
from services.shared.contracts.writing import SentenceWritten, WriteRequest

SAID_ALREADY = 0.5
"""After a failed model, a verbatim sentence this close to one already sent adds nothing."""


class VerbatimFlow:
    """Chooses what a request's passages themselves say; ``threshold`` is the least confidence for an answer."""

    def __init__(self, *, scorer: Scorer, threshold: float) -> None:
        self._scorer = scorer
        self._threshold = threshold

    async def choose(
        self,
        request: WriteRequest,
        *,
        said: Sequence[SentenceWritten],
        degrade: Callable[[str, str], None],
    ) -> Choice:
        """The sentences in reading order, without what was ``said`` already.

        ``degrade`` takes (what, why) where something had to be left out.
        """
        found = candidates(request.question, request.passages)
        texts = [one.scored for one in found]
        asked = [Asked.of(part, request.subject) for part in parts(request.question, request.sub_questions)]
        scores = await asyncio.gather(*(self._scores(request, one.text, texts, degrade) for one in asked))
        told = [Part(one, given) for one, given in zip(asked, scores, strict=True)]
        choice = extractive.choose(told, request.passages, found, threshold=self._threshold)
        new = tuple(
            one for one in choice.sentences if all(terms.likeness(one.text, old.text) < SAID_ALREADY for old in said)
        )
        return replace(choice, sentences=new)

    async def _scores(
        self, request: WriteRequest, question: str, texts: Sequence[str], degrade: Callable[[str, str], None]
    ) -> list[TextScore] | None:
        """The retriever's scores, or None: words alone have to do."""
        if not texts:
            return []
        try:
            return await self._scorer.score(request.space, question, texts)
        except RagstoneError as error:
            degrade("scores_unavailable", error.detail)
            return None
