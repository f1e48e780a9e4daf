"""Live documents as questions are made from them, and proposals in the catalog's golden set."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import Connection

from services.ingestor.ports.jobs import ClaimedJob
from services.shared.catalog import chunks, documents, golden, jobs
from services.shared.catalog.chunks import LiveChunk
from services.shared.catalog.documents import LiveDocument
from services.shared.catalog.engine import Catalog
from services.shared.contracts.golden import GoldenOrigin, GoldenQuestion, GoldenState, Question
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.evaluation.golden.drafts import shuffled
from services.shared.evaluation.golden.material import Passage, SourceDocument, likely_questions

PAGE = 500


class CatalogGoldenContent:
    """Each document is read in a transaction of its own, so that a large space blocks nobody."""

    def __init__(self, catalog: Catalog, now: Callable[[], datetime]) -> None:
        self._catalog = catalog
        self._now = now

    def documents(self, space: SpaceId, seed: int) -> Iterator[SourceDocument]:
        for document, found in live_documents(self._catalog, space, seed):
            yield source_document(document, found)

    def known(self, job: ClaimedJob) -> list[Question]:
        with self._catalog.read() as tx:
            row = jobs.find(tx, job.id)
            return [
                item.question
                for item in golden_questions(tx, job.space)
                if row is None or item.state is not GoldenState.PROPOSED or item.updated_at < row.created_at
            ]

    def propose(self, space: SpaceId, questions: Sequence[Question], origin: GoldenOrigin) -> int:
        with self._catalog.write() as tx:
            return golden.propose(tx, space, questions, origin, self._now())

    def step(self, job: ClaimedJob) -> tuple[str | None, int]:
        with self._catalog.read() as tx:
            row = jobs.find(tx, job.id)
        return (None, 0) if row is None else (row.stage, row.done)

    def made(self, job: ClaimedJob) -> dict[str, int]:
        kinds: Counter[str] = Counter()
        with self._catalog.read() as tx:
            row = jobs.find(tx, job.id)
            if row is not None:
                kinds.update(
                    item.question.kind
                    for item in golden_questions(tx, job.space)
                    if item.updated_at >= row.created_at and item.origin in (GoldenOrigin.RULE, GoldenOrigin.MODEL)
                )
        return dict(sorted(kinds.items()))


def live_documents(catalog: Catalog, space: SpaceId, seed: int) -> Iterator[tuple[LiveDocument, list[LiveChunk]]]:
    """Live documents that have chunks, with them, in an order that the seed decides; each read by itself."""
    for id in shuffled(_ids(catalog, space), seed):
        with catalog.read() as tx:
            document = documents.get(tx, space, DocumentId(id))
            # It may have been deleted since its id was read.
            found = [] if document is None else chunks.chunks_of_version(tx, space, document.version)
        if document is not None and found:
            yield document, found


def _ids(catalog: Catalog, space: SpaceId) -> list[str]:
    ids: list[str] = []
    cursor: str | None = None
    with catalog.read() as tx:
        while True:
            page, cursor = documents.list_live(tx, space, limit=PAGE, cursor=cursor)
            ids += [document.id for document in page]
            if cursor is None:
                return ids


def golden_questions(tx: Connection, space: SpaceId) -> Iterator[GoldenQuestion]:
    """Every golden question of the space, page by page."""
    cursor: str | None = None
    while True:
        page = golden.page(tx, space, states=None, flagged=None, limit=PAGE, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def source_document(document: LiveDocument, found: Sequence[LiveChunk]) -> SourceDocument:
    """A live document as questions are made from it."""
    return SourceDocument(
        document_id=document.id,
        title=document.title,
        type=document.type,
        questions=likely_questions(document.metadata),
        passages=tuple(
            Passage(chunk.text, chunk.section, chunk.start, chunk.end, chunk.kind, chunk.lead) for chunk in found
        ),
    )
