"""The story of a question: clean, retrieve, abstain early or write, check each sentence, answer."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from services.gateway.domain.answering import Asked, Written, declined_unasked, must_abstain, put_together
from services.gateway.domain.callers import PUBLIC_PAYER, Payer
from services.gateway.domain.cleaning import refuse_broken_text
from services.gateway.domain.gaps import of_content
from services.gateway.domain.parts import Parts
from services.gateway.domain.typed import typed
from services.gateway.domain.understanding import Understood, refusal, understood
from services.gateway.flow.find import FindFlow, Found
from services.gateway.flow.writing import Draft, Writing, overtaken
from services.gateway.ports.answering import Answers, Clock, KeptAnswer
from services.shared.contracts.answers import Answer, AskRequest, SentenceEvent, SourcesEvent, StageEvent
from services.shared.contracts.golden import Evidence
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile, Subject
from services.shared.contracts.search import FINAL_PASSAGES, Passage, SearchRequest

AskEvent = StageEvent | SourcesEvent | SentenceEvent | Answer

ATTEMPTS = 8
PATIENCE_S = 20.0
"""How often and how long a question is searched for anew when what was found is replaced before it can be said."""


@dataclass(frozen=True)
class Limits:
    """Longest texts that are taken, in code points."""

    question_chars: int
    history_chars: int


@dataclass(frozen=True)
class _Case:
    """One question on its way."""

    space: SpaceId
    asked: AskRequest
    understood: Understood
    began: float
    trace_id: str
    payer: Payer

    def search(self) -> SearchRequest:
        """What is searched for it."""
        asked = self.asked
        return SearchRequest(
            question=self.understood.question,
            filters=asked.filters,
            top_k=FINAL_PASSAGES,
            explain=asked.explain,
            stages=asked.stages,
        )

    @property
    def takes_apart(self) -> bool:
        """Is it to be taken apart where it has several parts? Yes, unless the client says no."""
        stages = self.asked.stages
        return stages is None or stages.decompose is not False


class AskFlow:
    """Answers questions. Closing its events stops whatever it waits for."""

    def __init__(
        self,
        *,
        find: FindFlow,
        writing: Writing,
        answers: Answers,
        profile: Profile,
        limits: Limits,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._find = find
        self._writing = writing
        self._answers = answers
        self._profile = profile
        self._limits = limits
        self._clock = clock
        self._new_id = new_id

    async def answer(self, space: SpaceId, asked: AskRequest, trace_id: str, payer: Payer = PUBLIC_PAYER) -> Answer:
        """The whole answer at once. Raises RagstoneError when the question is bad or nothing can be searched."""
        async with aclosing(self.events(space, asked, trace_id, payer)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise AssertionError("an answer is always the last event")

    async def events(
        self, space: SpaceId, asked: AskRequest, trace_id: str, payer: Payer = PUBLIC_PAYER
    ) -> AsyncGenerator[AskEvent, None]:
        """The same step by step; the Answer is the last event, and it alone is final."""
        shown: Sequence[Passage] = ()
        async with aclosing(self._told(space, asked, trace_id, payer)) as told:
            async for event in told:
                if isinstance(event, SourcesEvent):
                    shown = event.passages
                if isinstance(event, Answer):
                    self._answers.keep(space, kept(asked, event, shown, self._profile.subject))
                yield event

    def searched_for(self, asked: AskRequest) -> Understood | None:
        """The question as it will be searched for; None where it is declined without a search. Raises like answer."""
        taken = self._understand(asked)
        return None if refusal(asked.question, taken.question, self._profile) else taken

    async def _told(
        self, space: SpaceId, asked: AskRequest, trace_id: str, payer: Payer
    ) -> AsyncGenerator[AskEvent, None]:
        began = self._clock()
        case = _Case(space, asked, self._understand(asked), began, trace_id, payer)
        yield self._stage(case, "clean")
        refused = refusal(asked.question, case.understood.question, self._profile)
        if refused is not None:
            timings = {"total": self._ms_since(began)}
            yield declined_unasked(self._of(case), refused.text, refused.why, timings_ms=timings)
            return
        parts: Parts | None = None
        heard = False
        for attempt in range(1, ATTEMPTS + 1):
            async with aclosing(self._found(case, parts)) as steps:
                async for step in steps:
                    if isinstance(step, Found):
                        found = step
                    else:
                        yield self._stage(case, step)
            parts = found.parts
            yield SourcesEvent(passages=found.passages)
            draft = Draft()
            if not must_abstain(found.response.verdict, found.passages):
                yield self._stage(case, "write")
                async with aclosing(self._writing.sentences(space, found, draft, case.payer)) as sentences:
                    async for sentence in sentences:
                        # A second attempt does not count from 1 again after a first one that was heard.
                        if not heard:
                            yield sentence
                yield self._stage(case, "check")
            heard = heard or bool(draft.kept)
            await self._writing.look_once_more(space, found, draft)
            last = attempt == ATTEMPTS or self._clock() - began > PATIENCE_S
            if last or not overtaken(found, draft):
                yield self._put_together(case, found, draft)
                return

    def _understand(self, asked: AskRequest) -> Understood:
        refuse_broken_text(asked.filters)
        return understood(
            asked.question,
            asked.history,
            self._profile,
            question_max_chars=self._limits.question_chars,
            history_max_chars=self._limits.history_chars,
        )

    def _found(self, case: _Case, parts: Parts | None) -> AsyncGenerator[str | Found, None]:
        question = case.understood.question
        return self._find.steps(
            case.space,
            question,
            case.search(),
            decompose=case.takes_apart,
            only_relevant=True,
            known=parts,
            payer=case.payer,
        )

    def _put_together(self, case: _Case, found: Found, draft: Draft) -> Answer:
        """The Answer, from what has been looked at once more."""
        check_ms = round(1000 * draft.check_s, 1)
        return put_together(
            self._of(case),
            found.response,
            draft.live,
            Written(draft.kept, draft.dropped, draft.done),
            timings_ms={**found.timings_ms, "check": check_ms, "total": self._ms_since(case.began)},
            trace={"question": found.question, "decomposed_by": found.parts.by},
        )

    def _of(self, case: _Case) -> Asked:
        return Asked(
            id=self._new_id(),
            trace_id=case.trace_id,
            texts=self._profile.texts,
            rewritten=case.understood.rewritten,
            explain=case.asked.explain,
        )

    def _stage(self, case: _Case, name: str) -> StageEvent:
        return StageEvent(stage=name, elapsed_ms=self._ms_since(case.began))

    def _ms_since(self, moment: float) -> float:
        return round(1000 * (self._clock() - moment), 1)


def kept(asked: AskRequest, answer: Answer, shown: Sequence[Passage], subject: Subject | None) -> KeptAnswer:
    """What a person needs to see again to judge the answer, and the documents whose words it holds.

    An answer that cites nothing names the titles of what was nearest. A follow-up that was made whole with a word of an
    earlier answer is kept as it was typed, since that word may be of another document.
    """
    documents = list(dict.fromkeys(one.document_id for one in answer.citations or shown))
    own = typed(asked, answer.rewritten, subject)
    # PostgreSQL keeps no NUL in a text, and searching takes it out too.
    question = (asked.question if own is None else own).replace("\0", "")
    evidence = Evidence(
        citations=answer.citations, confidence=answer.confidence, model=answer.model, index=answer.index
    )
    return KeptAnswer(
        id=answer.id,
        question=question,
        text=answer.text.replace("\0", ""),
        status=answer.status,
        documents=documents,
        evidence=evidence,
        of_content=own is not None and of_content(asked, answer),
    )
