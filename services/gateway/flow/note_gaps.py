"""The story of a question without an answer, after the answer: is it known, is one like it, and then it is counted.

One after the other, beside the answering and never within it: whatever fails here is one line of the log.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence

from services.gateway.domain.gaps import OpenQuestion
from services.gateway.domain.same_question import SAME_FROM, may_be_same, nearest_by_words, wording_key
from services.gateway.ports.gaps import GapBook, Head, Likeness, Marks
from services.shared.contracts.errors import RagstoneError

AT_ONCE = 200
"""Questions that wait to be noted; more are let go."""

COMPARED = 200
"""Gaps that a question is compared with, at most: those with the most words in common."""

CLOSE_S = 1.0
"""Longest wait, at the end, for questions on their way."""


class NoteGapsFlow:
    """Notes questions. ``names``: those of whom the content is about; ``keeps``: False notes nothing."""

    def __init__(
        self,
        *,
        book: GapBook,
        likeness: Likeness,
        marks: Marks,
        names: Collection[str],
        keeps: bool,
        told: Callable[[str], None],
    ) -> None:
        self._book = book
        self._likeness = likeness
        self._marks = marks
        self._names = names
        self._keeps = keeps
        self._told = told
        self._turn = asyncio.Lock()
        self._waiting: set[asyncio.Task[None]] = set()

    def begin(self, noted: OpenQuestion | None, client: str | None) -> None:
        """Begin to note it for this client, and forget about that. Nothing to note, or for nobody: nothing happens."""
        if noted is None or client is None or not self._keeps:
            return
        if len(self._waiting) >= AT_ONCE:
            self._told("too many questions wait to be noted")
            return
        task = asyncio.create_task(self._noted(noted, client))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def close(self) -> None:
        """Give what is on its way a moment, and let the rest go."""
        if self._waiting:
            _, late = await asyncio.wait(self._waiting, timeout=CLOSE_S)
            for task in late:
                task.cancel()

    async def _noted(self, noted: OpenQuestion, client: str) -> None:
        try:
            async with self._turn:
                await self._note(noted, client)
        except RagstoneError as error:
            self._told(error.code)
        except Exception as error:  # nobody waits for this task, who could hear of it
            self._told(type(error).__name__)

    async def _note(self, noted: OpenQuestion, client: str) -> None:
        """Count it once for the client: for its wording, and for the gap in whatever words."""
        kind = "bad" if noted.judged_bad else "asked"
        key = wording_key(noted.question)
        first = await self._marks.first(noted.space, client, f"{kind}:{key}")
        if not first or not await self._marks.few(noted.space, client):
            return
        gap = await self._book.known(noted.space, key) or await self._like(noted)
        if gap is not None and not await self._marks.first(noted.space, client, f"{kind}:{gap}"):
            return
        found = await self._book.note(noted, key, gap)
        if gap is None and found is not None:
            await self._marks.first(noted.space, client, f"{kind}:{found}")

    async def _like(self, noted: OpenQuestion) -> str | None:
        """The gap whose question asks for the same."""
        # In a thread, so that no answer waits for it.
        heads = await asyncio.to_thread(self._possible, noted.question, await self._book.heads(noted.space))
        if not heads:
            return None
        near = await self._likeness.similarities(noted.space, noted.question, [head.question for head in heads])
        best = max(range(len(heads)), key=lambda place: near[place])
        return heads[best].id if near[best] >= SAME_FROM else None

    def _possible(self, question: str, heads: Sequence[Head]) -> list[Head]:
        """Those that may ask for the same, by their words."""
        nearest = nearest_by_words(question, [head.question for head in heads], COMPARED)
        return [heads[place] for place in nearest if may_be_same(question, heads[place].question, self._names)]
