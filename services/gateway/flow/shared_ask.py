"""The story of a question that was asked before, or is being asked by others at this moment."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from services.gateway.domain.callers import PUBLIC_PAYER, Payer
from services.gateway.domain.gaps import unanswered
from services.gateway.domain.given import Basis, Given, holds_still, may_be_given_again
from services.gateway.domain.understanding import Understood
from services.gateway.flow.ask import AskEvent, AskFlow, kept
from services.gateway.flow.flight import Flight
from services.gateway.flow.note_gaps import NoteGapsFlow
from services.gateway.ports.answering import Answers, Clock, LiveTexts
from services.gateway.ports.given import Reuse
from services.gateway.ports.observing import Observer
from services.shared.contracts.answers import Answer, AskRequest, SentenceEvent, SourcesEvent, StageEvent
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import Passage


@dataclass
class Counts:
    """Questions since the start, by how they were answered; those that could not be looked up are in none."""

    hits: int = 0
    """Answered from what was given before."""
    misses: int = 0
    """Answered anew."""
    shared: int = 0
    """Answered together with an equal question that was under way."""


@dataclass(frozen=True)
class _Asker:
    """One who asks, for whom an answer that others share is made their own."""

    space: SpaceId
    asked: AskRequest
    understood: Understood
    trace_id: str
    began: float


class SharedAskFlow:
    """Answers like AskFlow, which it asks only for what it cannot give again.

    Equal questions of one moment and one payer run once: whoever came first pays, and all hear the same from its
    beginning. Payers do not meet, because one's budget may be spent. Two questions are equal when everything is that
    decides the answer (domain/given.py).
    """

    def __init__(
        self,
        *,
        ask: AskFlow,
        reuse: Reuse,
        record: LiveTexts,
        answers: Answers,
        observer: Observer,
        notes: NoteGapsFlow,
        profile: Profile,
        version: str,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._ask = ask
        self._reuse = reuse
        self._record = record
        self._answers = answers
        self._observer = observer
        self._notes = notes
        self._profile = profile
        self._version = version
        self._clock = clock
        self._new_id = new_id
        self._flights: dict[tuple[str, str], Flight] = {}
        self._running: set[Flight] = set()
        self.counts = Counts()

    def check(self, asked: AskRequest) -> None:
        """Raises RagstoneError when the question cannot be asked."""
        self._ask.searched_for(asked)

    async def answer(
        self, space: SpaceId, asked: AskRequest, trace_id: str, payer: Payer = PUBLIC_PAYER, *, fresh: bool = False
    ) -> Answer:
        """The whole answer at once. Raises RagstoneError when the question is bad or nothing can be searched."""
        async with aclosing(self.events(space, asked, trace_id, payer, fresh=fresh)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise AssertionError("an answer is always the last event")

    async def events(
        self, space: SpaceId, asked: AskRequest, trace_id: str, payer: Payer = PUBLIC_PAYER, *, fresh: bool = False
    ) -> AsyncGenerator[AskEvent, None]:
        """The same step by step; the Answer is the last event, and it alone is final.

        ``fresh``: answered anew whatever was given before, and given again from then on.
        """
        began = self._clock()
        understood = None if asked.explain else self._ask.searched_for(asked)
        basis = None if understood is None else await self._basis(space, asked, understood)
        if understood is None or basis is None:
            told = self._ask.events(space, asked, trace_id, payer)
        else:
            asker = _Asker(space, asked, understood, trace_id, began)
            told = self._told(asker, basis, payer, fresh=fresh)
        shown: Sequence[Passage] = ()
        async with aclosing(told):
            async for event in told:
                if isinstance(event, SourcesEvent):
                    shown = event.passages
                elif isinstance(event, Answer):
                    self._observer.answered(event)
                    noted = unanswered(space, asked, event, shown, self._profile.subject)
                    self._notes.begin(noted, payer.counted_as)
                yield event

    async def _told(self, asker: _Asker, basis: Basis, payer: Payer, *, fresh: bool) -> AsyncGenerator[AskEvent, None]:
        key = basis.fingerprint()
        flight = None if fresh else self._under_way(key, payer)
        if flight is None and not fresh:
            given = await self._given_before(asker.space, key)
            if given is not None:
                self.counts.hits += 1
                for event in self._replayed(asker, given):
                    yield event
                return
            flight = self._under_way(key, payer)
        leads = flight is None
        if flight is None:
            self.counts.misses += not fresh
            flight = self._begin(asker, basis, key, payer)
        else:
            self.counts.shared += 1
        shown: Sequence[Passage] = ()
        async with aclosing(flight.listen()) as heard:
            async for event in heard:
                if isinstance(event, SourcesEvent):
                    shown = event.passages
                yield event if leads else self._own(asker, event, shown)

    async def _basis(self, space: SpaceId, asked: AskRequest, understood: Understood) -> Basis | None:
        """What decides the answer; None while it cannot be told, and nothing is shared then."""
        ways = await self._reuse.ways.now()
        if ways is None:
            return None
        try:
            standing = await self._reuse.standings.standing(space)
        except RagstoneError:
            return None
        return Basis(
            space=space,
            standing=standing,
            ways=ways,
            question=understood.question,
            filters=asked.filters,
            stages=asked.stages,
            profile=self._profile,
            version=self._version,
        )

    def _under_way(self, key: str, payer: Payer) -> Flight | None:
        flight = self._flights.get((key, payer.client))
        return None if flight is None or flight.abandoned else flight

    def _begin(self, asker: _Asker, basis: Basis, key: str, payer: Payer) -> Flight:
        flight = Flight(self._anew(asker, basis, key, payer))
        shared_as = (key, payer.client)
        self._flights[shared_as] = flight
        self._running.add(flight)

        def over(_: object) -> None:
            self._running.discard(flight)
            if self._flights.get(shared_as) is flight:
                del self._flights[shared_as]

        flight.task.add_done_callback(over)
        return flight

    async def _anew(self, asker: _Asker, basis: Basis, key: str, payer: Payer) -> AsyncGenerator[AskEvent, None]:
        """Asked for everybody who listens; the end is kept to be given again."""
        sources: Sequence[Passage] = ()
        sentences: list[SentenceEvent] = []
        answer: Answer | None = None
        async with aclosing(self._ask.events(asker.space, asker.asked, asker.trace_id, payer)) as events:
            async for event in events:
                if isinstance(event, SourcesEvent):
                    sources = event.passages
                elif isinstance(event, SentenceEvent):
                    sentences.append(event)
                elif isinstance(event, Answer):
                    answer = event
                yield event
        if answer is not None and may_be_given_again(answer, basis):
            # Without the asker's own words: each asker's are put in their place.
            await self._keep(basis, key, Given(sources, sentences, answer.model_copy(update={"rewritten": None})))

    async def _keep(self, basis: Basis, key: str, given: Given) -> None:
        """Kept only where nothing changed from before the question to after this: so it rests on its basis alone,
        and a deletion either finds it kept or is seen here."""
        if not await self._reuse.given.keep(basis.space, key, given):
            return
        try:
            same = await self._reuse.standings.standing(basis.space) == basis.standing
        except RagstoneError:
            same = False
        if not same:
            await self._reuse.given.drop(basis.space, key)

    async def _given_before(self, space: SpaceId, key: str) -> Given | None:
        """What was given before, if the catalog confirms every word of it once more."""
        given = await self._reuse.given.find(space, key)
        if given is None:
            return None
        try:
            texts = await self._record.live_texts(space, given.texts) if given.texts else {}
        except RagstoneError:
            return None
        return given if holds_still(given, texts) else None

    def _replayed(self, asker: _Asker, given: Given) -> list[AskEvent]:
        timings = {"cache": self._ms_since(asker.began)}
        answer = given.answer.model_copy(update={"cached": True, "timings_ms": timings})
        told: list[AskEvent] = [StageEvent(stage="clean", elapsed_ms=0.0), SourcesEvent(passages=list(given.sources))]
        return [*told, *given.sentences, self._own(asker, answer, given.sources)]

    def _own(self, asker: _Asker, event: AskEvent, shown: Sequence[Passage]) -> AskEvent:
        """An event that another asker's question made, as this one's: with an id to judge it by, its own times,
        and no tokens: they were counted once."""
        if isinstance(event, StageEvent):
            return event.model_copy(update={"elapsed_ms": self._ms_since(asker.began)})
        if not isinstance(event, Answer):
            return event
        own = event.model_copy(
            update={
                "id": self._new_id(),
                "trace_id": asker.trace_id,
                "rewritten": asker.understood.rewritten,
                "usage": None,
                "timings_ms": {**event.timings_ms, "total": self._ms_since(asker.began)},
            }
        )
        self._answers.keep(asker.space, kept(asker.asked, own, shown, self._profile.subject))
        return own

    def _ms_since(self, moment: float) -> float:
        return round(1000 * (self._clock() - moment), 1)
