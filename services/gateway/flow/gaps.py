"""The story of a gap that an owner deals with: what is true becomes a document, which answers from then on."""

from collections.abc import Callable
from datetime import date

from services.gateway.domain.gaps import check_takes_a_fact, fact_document
from services.gateway.flow.submit import SubmitFlow
from services.gateway.ports.gaps import GapBook
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.gaps import AddedFact, NewFact
from services.shared.contracts.ids import DocumentId, SpaceId


class GapFlow:
    """Fills gaps."""

    def __init__(self, *, book: GapBook, submit: SubmitFlow, today: Callable[[], date]) -> None:
        self._book = book
        self._submit = submit
        self._today = today

    async def add_fact(self, space: SpaceId, id: str, fact: NewFact, request_id: str) -> AddedFact:
        """Send the fact in as a document; a later one of the same gap replaces it.

        Raises RagstoneError (gap_not_found, gap_state_conflict, document_empty, invalid_request).
        """
        if "\0" in (fact.source or ""):
            detail = "source: holds a zero character (U+0000), which cannot be stored; leave it out."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        gap = await self._book.one(space, id)
        check_takes_a_fact(gap)
        document = fact_document(gap, fact, self._today())
        job = (await self._submit.text(space, document, request_id)).jobs[0]
        document_id = DocumentId(str(job.document_id))
        gap = await self._book.answered(space, id, document_id, job.id)
        return AddedFact(gap=gap, document_id=document_id, job_id=job.id)
