"""The middle of a question's story: each written sentence is confirmed by the catalog before it goes out."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from services.gateway.domain.answering import early_end
from services.gateway.domain.callers import PUBLIC_PAYER, Payer
from services.gateway.domain.citations import Numbering, Quoted, holds, quoted_sentence
from services.gateway.domain.layout import placed, with_markers
from services.gateway.flow.find import FindFlow, Found
from services.gateway.ports.answering import Clock, Generator, LiveTexts
from services.shared.contracts.answers import AnswerReason, SentenceEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone

AWAY = "writer_unavailable"
"""Said in ``degraded`` when what writes did not answer, or broke off."""

_FINAL = (AnswerReason.GUARDRAIL, AnswerReason.WRITER_UNAVAILABLE)
"""Ends of a writing that another search would not change."""


@dataclass
class Draft:
    """A writing under way: what holds so far, and how it ended."""

    done: WritingDone = field(default_factory=lambda: early_end(AnswerReason.NOTHING_RELEVANT))
    kept: list[Quoted] = field(default_factory=list)
    live: list[Passage] = field(default_factory=list)
    dropped: int = 0
    check_s: float = 0.0


class Writing:
    """Has sentences written from what was found. Closing its sentences stops the writer."""

    def __init__(
        self, *, find: FindFlow, generator: Generator, record: LiveTexts, profile: Profile, clock: Clock
    ) -> None:
        self._find = find
        self._generator = generator
        self._record = record
        self._profile = profile
        self._clock = clock

    async def sentences(
        self, space: SpaceId, found: Found, draft: Draft, payer: Payer = PUBLIC_PAYER
    ) -> AsyncGenerator[SentenceEvent, None]:
        """Each written sentence that the catalog confirms at this moment; a writer that fails just ends them.

        Their texts one after the other are the answer's text: each carries the layout that stands before it.
        Raises: RagstoneError (busy) when the writer has too much to do to begin.
        """
        began = self._clock()
        numbering = Numbering()
        draft.done = early_end(AnswerReason.WRITER_UNAVAILABLE, [AWAY])
        try:
            async with aclosing(self._generator.write(self._request(space, found, payer))) as written:
                async for event in written:
                    if isinstance(event, WritingDone):
                        draft.done = event
                        break
                    sentence = await self._confirmed(space, event, found.passages, draft)
                    if sentence is not None:
                        first = not draft.kept
                        draft.kept.append(sentence)
                        citations = numbering.cite(sentence)
                        marked = with_markers(sentence.text, [citation.n for citation in citations])
                        text = placed(sentence.before, marked, first=first)
                        yield SentenceEvent(n=len(draft.kept), text=text, citations=citations)
        except RagstoneError as error:
            if error.code is ErrorCode.BUSY and not draft.kept:
                raise  # asking again soon helps, which an abstention would not say
            draft.done = early_end(AnswerReason.WRITER_UNAVAILABLE, [AWAY])
        found.timings_ms["write"] = round(1000 * (self._clock() - began), 1)

    async def look_once_more(self, space: SpaceId, found: Found, draft: Draft) -> None:
        """What was deleted while others were still being written is not in the answer."""
        checking = self._clock()
        kept, draft.live = await asyncio.gather(
            self._holding(space, draft.kept), self._find.still_live(space, found.passages)
        )
        draft.dropped += len(draft.kept) - len(kept)
        draft.kept = kept
        draft.check_s += self._clock() - checking

    def _request(self, space: SpaceId, found: Found, payer: Payer) -> WriteRequest:
        profile = self._profile
        return WriteRequest(
            space=space,
            question=found.question,
            passages=found.passages,
            sub_questions=found.response.sub_questions,
            persona=profile.persona,
            tone=profile.tone,
            language=profile.language,
            subject=[] if profile.subject is None else [profile.subject.name, *profile.subject.aliases],
            client=payer.client,
            daily_tokens=payer.daily_tokens,
        )

    async def _confirmed(
        self, space: SpaceId, written: SentenceWritten, passages: Sequence[Passage], draft: Draft
    ) -> Quoted | None:
        began = self._clock()
        sentence = quoted_sentence(written, passages)
        confirmed = await self._holding(space, [] if sentence is None else [sentence])
        draft.dropped += not confirmed
        draft.check_s += self._clock() - began
        return confirmed[0] if confirmed else None

    async def _holding(self, space: SpaceId, sentences: Sequence[Quoted]) -> list[Quoted]:
        """Those whose every quote stands word for word in a version that is live at this moment."""
        wanted = {
            (quote.passage.document_id, quote.passage.version) for sentence in sentences for quote in sentence.quotes
        }
        texts = await self._record.live_texts(space, wanted) if wanted else {}
        return [sentence for sentence in sentences if all(holds(quote, texts) for quote in sentence.quotes)]


def overtaken(found: Found, draft: Draft) -> bool:
    """Was there nothing to say because a document was replaced or deleted after it was found?

    Its new version may answer, and an abstention would be false.
    """
    died = len(draft.live) < len(found.response.passages)
    return died and not draft.kept and draft.done.reason not in _FINAL
