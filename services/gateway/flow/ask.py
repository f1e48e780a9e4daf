"""The story of a question: clean, retrieve, abstain early or write, check each sentence, answer."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from services.gateway.domain.addressing import addresses_assistant
from services.gateway.domain.answering import Written, declined_unasked, early_end, must_abstain, put_together
from services.gateway.domain.citations import Numbering, Quoted, holds, quoted_sentence, with_markers
from services.gateway.flow.find import FindFlow, Found
from services.gateway.ports.answering import Answers, Clock, Generator, KeptAnswer, LiveTexts
from services.shared.contracts.answers import Answer, AnswerReason, AskRequest, SentenceEvent, SourcesEvent, StageEvent
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import FINAL_PASSAGES, Passage, SearchRequest
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone

AskEvent = StageEvent | SourcesEvent | SentenceEvent | Answer

ATTEMPTS = 3
"""How often a question is searched for when what was found is replaced before it can be said."""

_FINAL = (AnswerReason.GUARDRAIL, AnswerReason.WRITER_UNAVAILABLE)
"""Ends of a writing that another search would not change."""


@dataclass
class _Draft:
    """A writing under way: what holds so far, and how it ended."""

    done: WritingDone
    kept: list[Quoted] = field(default_factory=list)
    live: list[Passage] = field(default_factory=list)
    dropped: int = 0
    check_s: float = 0.0


class AskFlow:
    """Answers questions. Closing its events stops whatever it waits for."""

    def __init__(
        self,
        *,
        find: FindFlow,
        generator: Generator,
        record: LiveTexts,
        answers: Answers,
        profile: Profile,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._find = find
        self._generator = generator
        self._record = record
        self._answers = answers
        self._profile = profile
        self._clock = clock
        self._new_id = new_id

    async def answer(self, space: SpaceId, asked: AskRequest, trace_id: str) -> Answer:
        """The whole answer at once. Raises RagstoneError when the question is bad or nothing can be searched."""
        async with aclosing(self.events(space, asked, trace_id)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise AssertionError("an answer is always the last event")

    async def events(self, space: SpaceId, asked: AskRequest, trace_id: str) -> AsyncGenerator[AskEvent, None]:
        """The same step by step; the Answer is the last event, and it alone is final."""
        async with aclosing(self._told(space, asked, trace_id)) as told:
            async for event in told:
                if isinstance(event, Answer):
                    self._answers.keep(space, _kept(asked, event))
                yield event

    async def _told(self, space: SpaceId, asked: AskRequest, trace_id: str) -> AsyncGenerator[AskEvent, None]:
        began = self._clock()

        def stage(name: str) -> StageEvent:
            return StageEvent(stage=name, elapsed_ms=self._ms_since(began))

        search = SearchRequest(
            question=asked.question,
            filters=asked.filters,
            top_k=FINAL_PASSAGES,
            explain=asked.explain,
            stages=asked.stages,
        )
        question = self._find.clean(search)
        yield stage("clean")
        if addresses_assistant(question, self._profile.subject):
            yield declined_unasked(
                self._profile.texts, id=self._new_id(), trace_id=trace_id, timings_ms={"total": self._ms_since(began)}
            )
            return
        heard = False
        for attempt in range(1, ATTEMPTS + 1):
            yield stage("retrieve")
            found = await self._find.passages(space, question, search, only_relevant=True)
            yield SourcesEvent(passages=found.passages)
            draft = _Draft(early_end(AnswerReason.NOTHING_RELEVANT))
            if not must_abstain(found.response.verdict, found.passages):
                yield stage("write")
                async with aclosing(self._sentences(space, found, draft)) as sentences:
                    async for sentence in sentences:
                        # A second attempt does not count from 1 again after a first one that was heard.
                        if not heard:
                            yield sentence
                yield stage("check")
            heard = bool(draft.kept)
            await self._look_once_more(space, found, draft)
            if attempt == ATTEMPTS or not _overtaken(found, draft):
                yield self._put_together(asked, found, draft, began, trace_id)
                return

    async def _sentences(self, space: SpaceId, found: Found, draft: _Draft) -> AsyncGenerator[SentenceEvent, None]:
        """Each written sentence that the catalog confirms at this moment; a writer that fails just ends them."""
        began = self._clock()
        numbering = Numbering()
        request = WriteRequest(
            space=space,
            question=found.question,
            passages=found.passages,
            persona=self._profile.persona,
            language=self._profile.language,
        )
        draft.done = early_end(AnswerReason.WRITER_UNAVAILABLE, ["writer_unavailable"])
        try:
            async with aclosing(self._generator.write(request)) as written:
                async for event in written:
                    if isinstance(event, WritingDone):
                        draft.done = event
                        break
                    sentence = await self._confirmed(space, event, found.passages, draft)
                    if sentence is not None:
                        draft.kept.append(sentence)
                        citations = numbering.cite(sentence)
                        text = with_markers(sentence.text, [citation.n for citation in citations])
                        yield SentenceEvent(n=len(draft.kept), text=text, citations=citations)
        except RagstoneError:
            draft.done = early_end(AnswerReason.WRITER_UNAVAILABLE, ["writer_unavailable"])
        found.timings_ms["write"] = self._ms_since(began)

    async def _confirmed(
        self, space: SpaceId, written: SentenceWritten, passages: Sequence[Passage], draft: _Draft
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

    async def _look_once_more(self, space: SpaceId, found: Found, draft: _Draft) -> None:
        """What was deleted while others were still being written is not in the answer."""
        checking = self._clock()
        kept, draft.live = await asyncio.gather(
            self._holding(space, draft.kept), self._find.still_live(space, found.passages)
        )
        draft.dropped += len(draft.kept) - len(kept)
        draft.kept = kept
        draft.check_s += self._clock() - checking

    def _put_together(self, asked: AskRequest, found: Found, draft: _Draft, began: float, trace_id: str) -> Answer:
        """The Answer, from what has been looked at once more."""
        check_ms = round(1000 * draft.check_s, 1)
        return put_together(
            found.response,
            draft.live,
            Written(draft.kept, draft.dropped, draft.done),
            texts=self._profile.texts,
            id=self._new_id(),
            trace_id=trace_id,
            timings_ms={**found.timings_ms, "check": check_ms, "total": self._ms_since(began)},
            explain=asked.explain,
        )

    def _ms_since(self, moment: float) -> float:
        return round(1000 * (self._clock() - moment), 1)


def _kept(asked: AskRequest, answer: Answer) -> KeptAnswer:
    """What a person needs to see again to judge the answer, and the documents whose words it holds."""
    documents = list(dict.fromkeys(citation.document_id for citation in answer.citations))
    # PostgreSQL keeps no NUL in a text, and searching takes it out too.
    question, text = asked.question.replace("\0", ""), answer.text.replace("\0", "")
    return KeptAnswer(answer.id, question, text, answer.status, documents)


def _overtaken(found: Found, draft: _Draft) -> bool:
    """Was there nothing to say because a document was replaced or deleted after it was found?

    Its new version may answer, and an abstention would be false.
    """
    died = len(draft.live) < len(found.response.passages)
    return died and not draft.kept and draft.done.reason not in _FINAL
