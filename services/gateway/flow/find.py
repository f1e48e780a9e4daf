"""The story of a search, and the first half of a question's: clean, retrieve, keep only what is live."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.citations import passage_holds, still_there
from services.gateway.domain.cleaning import clean_question, refuse_broken_text
from services.gateway.ports.answering import Clock, LiveTexts, Retriever
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


class FindFlow:
    """Finds passages for people and for the question flow."""

    def __init__(
        self, *, retriever: Retriever, record: LiveTexts, profile: Profile, question_max_chars: int, clock: Clock
    ) -> None:
        self._retriever = retriever
        self._record = record
        self._profile = profile
        self._question_max_chars = question_max_chars
        self._clock = clock

    async def search(self, space: SpaceId, search: SearchRequest) -> SearchResponse:
        """Passages without writing. Raises RagstoneError."""
        question = self.clean(search)
        found = await self.passages(space, question, search)
        if len(found.passages) < len(found.response.passages):
            # Replaced between being found and being looked at again: the new version may be what is looked for.
            found = await self.passages(space, question, search)
        return found.response.model_copy(update={"passages": found.passages, "timings_ms": found.timings_ms})

    def clean(self, search: SearchRequest) -> str:
        """The question as it is searched for. Raises RagstoneError when it is empty, too long or not text."""
        refuse_broken_text(search.filters, search.expect)
        return clean_question(search.question, self._profile, self._question_max_chars)

    async def passages(
        self, space: SpaceId, question: str, search: SearchRequest, *, only_relevant: bool = False
    ) -> Found:
        """Asks the retriever, and believes the catalog: a passage that is not live now is dropped.

        ``only_relevant``: what the critic holds for irrelevant is left out, although the page is then not full.
        """
        began = self._clock()
        request = RetrieveRequest(
            space=space,
            question=question,
            filters=search.filters,
            top_k=search.top_k,
            explain=search.explain,
            expect=search.expect,
            stages=search.stages,
            only_relevant=only_relevant,
        )
        response = _saying_fallback(await self._retriever.retrieve(request))
        live = await self.still_live(space, response.passages)
        timings = {f"retrieve.{step}": ms for step, ms in response.timings_ms.items()}
        timings["retrieve"] = round(1000 * (self._clock() - began), 1)
        return Found(question, response, live, timings)

    async def still_live(self, space: SpaceId, passages: Sequence[Passage]) -> list[Passage]:
        """Those of the passages whose version is live at this moment and holds their text."""
        wanted = {(passage.document_id, passage.version) for passage in passages}
        others = {(also.document_id, also.version) for passage in passages for also in passage.also_in}
        texts = await self._record.live_texts(space, wanted | others) if wanted else {}
        return [still_there(passage, texts) for passage in passages if passage_holds(passage, texts)]


def _saying_fallback(response: SearchResponse) -> SearchResponse:
    """Passages that the asked type did not hold are never passed off as such."""
    if response.verdict.gate != "fallback":
        return response
    return response.model_copy(update={"degraded": [*response.degraded, TYPE_FILTER_DROPPED]})
