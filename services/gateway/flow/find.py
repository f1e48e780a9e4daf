"""The story of a search, and the first half of a question's: clean, retrieve, take apart, keep only what is live."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from services.gateway.domain.callers import PUBLIC_PAYER, Payer
from services.gateway.domain.citations import passage_holds, still_there
from services.gateway.domain.cleaning import clean_question, refuse_broken_text
from services.gateway.domain.parts import WHOLE, Parts, has_parts, may_have_parts
from services.gateway.domain.wording import search_wording
from services.gateway.flow.apart import SKIPPED, Apart
from services.gateway.ports.answering import Clock, LiveTexts, Retriever
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import Passage, RetrieveRequest, SearchRequest, SearchResponse

TYPE_FILTER_DROPPED = "type_filter_dropped"
"""Said in ``degraded`` when only a search without the type filter found something."""


@dataclass(frozen=True)
class Found:
    """What was found for a cleaned question; ``timings_ms`` is filled further by the steps that follow."""

    question: str
    response: SearchResponse
    passages: list[Passage]
    timings_ms: dict[str, float]
    parts: Parts = WHOLE


class FindFlow:
    """Finds passages for people and for the question flow."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        record: LiveTexts,
        apart: Apart,
        profile: Profile,
        question_max_chars: int,
        clock: Clock,
    ) -> None:
        self._retriever = retriever
        self._record = record
        self._apart = apart
        self._profile = profile
        self._question_max_chars = question_max_chars
        self._clock = clock

    async def search(self, space: SpaceId, search: SearchRequest) -> SearchResponse:
        """Passages without writing; taken apart only when asked to. Raises RagstoneError."""
        refuse_broken_text(search.filters, search.expect)
        question = clean_question(search.question, self._profile, self._question_max_chars)
        wanted = search.stages is not None and search.stages.decompose is True
        async with aclosing(self.steps(space, question, search, decompose=wanted)) as steps:
            async for step in steps:
                if isinstance(step, Found):
                    found = step
        if len(found.passages) < len(found.response.passages):
            # Replaced between being found and being looked at again: the new version may be what is looked for.
            found = await self._passages(space, question, search, found.parts)
        return found.response.model_copy(update={"passages": found.passages, "timings_ms": found.timings_ms})

    async def steps(
        self,
        space: SpaceId,
        question: str,
        search: SearchRequest,
        *,
        decompose: bool,
        only_relevant: bool = False,
        known: Parts | None = None,
        payer: Payer = PUBLIC_PAYER,
    ) -> AsyncGenerator[str | Found, None]:
        """The name of each step as it begins, and at last what was found.

        The question itself is searched for at once. Where its words say that it has several parts, it is taken
        apart meanwhile; where it is long and what was found is weak, afterwards. Then it is searched for once
        more, with its parts. ``known``: an earlier attempt took it apart already. ``only_relevant``: what the
        critic holds for irrelevant is left out, although the page is then not full.
        """
        if known is not None:
            yield "retrieve"
            yield await self._passages(space, question, search, known, only_relevant=only_relevant)
            return
        at_once = decompose and has_parts(question)
        if at_once:
            yield "decompose"
        yield "retrieve"
        taking = asyncio.create_task(self._apart.parts(question, payer)) if at_once else None
        try:
            found = await self._passages(space, question, search, WHOLE, only_relevant=only_relevant)
            parts = WHOLE if taking is None else await taking
        finally:
            if taking is not None:
                taking.cancel()
        if decompose and not at_once and may_have_parts(question, found.response.verdict):
            yield "decompose"
            parts = await self._apart.parts(question, payer)
        if parts.sub_questions:
            yield "retrieve"
            found = await self._with_parts(space, search, found, parts, only_relevant=only_relevant)
        yield _saying_parts(found, parts) if parts is not WHOLE else found

    async def still_live(self, space: SpaceId, passages: Sequence[Passage]) -> list[Passage]:
        """Those of the passages whose version is live at this moment and holds their text."""
        wanted = {(passage.document_id, passage.version) for passage in passages}
        others = {(also.document_id, also.version) for passage in passages for also in passage.also_in}
        texts = await self._record.live_texts(space, wanted | others) if wanted else {}
        return [still_there(passage, texts) for passage in passages if passage_holds(passage, texts)]

    async def _with_parts(
        self, space: SpaceId, search: SearchRequest, found: Found, parts: Parts, *, only_relevant: bool
    ) -> Found:
        """A second search that fails leaves what the first one found."""
        try:
            again = await self._passages(space, found.question, search, parts, only_relevant=only_relevant)
        except RagstoneError:
            degraded = [*found.response.degraded, SKIPPED]
            return replace(found, response=found.response.model_copy(update={"degraded": degraded}))
        again.timings_ms["retrieve"] = round(again.timings_ms["retrieve"] + found.timings_ms["retrieve"], 1)
        return again

    async def _passages(
        self, space: SpaceId, question: str, search: SearchRequest, parts: Parts, *, only_relevant: bool = False
    ) -> Found:
        """Asks the retriever, and believes the catalog: a passage that is not live now is dropped."""
        began = self._clock()
        subject = self._profile.subject
        searched = search_wording(question, subject)
        request = RetrieveRequest(
            space=space,
            question=searched,
            named=None if searched == question else question,
            sub_questions=[search_wording(one, subject) for one in parts.sub_questions],
            filters=search.filters,
            top_k=search.top_k,
            explain=search.explain,
            expect=search.expect,
            stages=search.stages,
            only_relevant=only_relevant,
        )
        response = _saying_fallback(await self._retriever.retrieve(request))
        response = response.model_copy(update={"sub_questions": list(parts.sub_questions)})
        live = await self.still_live(space, response.passages)
        timings = {f"retrieve.{step}": ms for step, ms in response.timings_ms.items()}
        timings["retrieve"] = round(1000 * (self._clock() - began), 1)
        return Found(question, response, live, timings, parts)


def _saying_fallback(response: SearchResponse) -> SearchResponse:
    """Passages that the asked type did not hold are never passed off as such."""
    if response.verdict.gate != "fallback":
        return response
    return response.model_copy(update={"degraded": [*response.degraded, TYPE_FILTER_DROPPED]})


def _saying_parts(found: Found, parts: Parts) -> Found:
    """What became of taking it apart: how long it took, and what had to be left out."""
    degraded = list(dict.fromkeys([*found.response.degraded, *parts.degraded]))
    return replace(
        found,
        response=found.response.model_copy(update={"degraded": degraded}),
        timings_ms={**found.timings_ms, "decompose": parts.ms},
        parts=replace(found.parts, by=parts.by),
    )
