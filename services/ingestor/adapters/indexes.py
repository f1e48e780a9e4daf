"""Indexes beside the serving one, in the catalog; and what a comparison asks, out of it."""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection

from services.ingestor.adapters.catalog_records import stored_chunk_of
from services.ingestor.domain.documents import StoredChunk
from services.ingestor.ports.content import EmbedderIdentity, Target
from services.ingestor.ports.jobs import ClaimedJob, LeaseLost
from services.ingestor.ports.reembedding import Amounts, Behind, Promoted, SecondIndex, TakenOut
from services.shared.catalog import chunks, golden, index_building, indexes, live_versions, spaces, switching
from services.shared.catalog.engine import Catalog
from services.shared.catalog.index_rows import StoredIndex, WantedEmbedder
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexComparison, IndexPhase
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

TEXTS_AT_ONCE = 100


class CatalogSecondIndexes:
    """Every change is made under the job's lease, or not at all."""

    def __init__(
        self,
        catalog: Catalog,
        events: JobEventSender,
        owner: str,
        load: Callable[[WantedEmbedder], EmbedderSpec],
        now: Callable[[], datetime],
    ) -> None:
        self._catalog = catalog
        self._events = events
        self._owner = owner
        self._load = load
        self._now = now

    def find(self, index_id: IndexId) -> SecondIndex | None:
        with self._catalog.read() as tx:
            stored = indexes.stored(tx, index_id)
        return None if stored is None else _second_of(stored)

    def settle(self, job: ClaimedJob, index: SecondIndex) -> None:
        with self._catalog.read() as tx:
            stored = _stored(tx, index.id)
        spec = self._load(stored.wanted)
        with self._held(job) as tx:
            stored = _stored(tx, index.id)
            if stored.state is not IndexPhase.BUILDING:
                raise TakenOut
            index_building.settle(tx, stored, spec)
        log.info("index_begun", index=index.id, embedder=spec.name, dimension=spec.dimension)

    def serving(self, space: SpaceId) -> IndexId | None:
        with self._catalog.read() as tx:
            row = indexes.serving(tx, space)
        return None if row is None else row.id

    def live_count(self, space: SpaceId) -> int:
        with self._catalog.read() as tx:
            return chunks.counts(tx, space)[1]

    def chunks_after(self, space: SpaceId, after: ChunkId | None, limit: int) -> list[StoredChunk]:
        with self._catalog.read() as tx:
            return [stored_chunk_of(chunk) for chunk in chunks.live_after(tx, space, after or ChunkId(""), limit)]

    def behind(self, index_id: IndexId, limit: int) -> Behind:
        with self._catalog.read() as tx:
            found = index_building.behind(tx, _stored(tx, index_id), limit)
        return Behind(found.seq, found.changes, found.live, found.dead, found.more)

    def note_built(self, job: ClaimedJob, index_id: IndexId, to: ChunkId | None, amounts: Amounts, pace: float) -> None:
        with self._held(job) as tx:
            _unless_taken_out(
                index_building.note_built(tx, index_id, to=to, vectors=amounts.vectors, truncated=amounts.truncated)
            )
            index_building.note_pace(tx, job.id, index_id, pace)

    def note_followed(self, job: ClaimedJob, index_id: IndexId, seq: int, amounts: Amounts) -> None:
        with self._held(job) as tx:
            _unless_taken_out(
                index_building.note_followed(
                    tx, index_id, seq=seq, vectors=amounts.vectors, truncated=amounts.truncated
                )
            )

    def ready(self, job: ClaimedJob, index_id: IndexId, comparison: IndexComparison | None, reason: str | None) -> None:
        with self._held(job) as tx:
            _unless_taken_out(index_building.ready(tx, index_id, comparison, reason))
        if comparison is not None:
            log.info("index_compared", index=index_id, found=switching.figures(comparison), worse=comparison.worse)

    def promote(self, job: ClaimedJob, index_id: IndexId) -> Promoted:
        with self._held(job) as tx:
            spaces.lock(tx, job.space)
            stored = _stored(tx, index_id)
            if stored.state is IndexPhase.SERVING or stored.state is IndexPhase.RETIRED:
                raise TakenOut
            if stored.promotion is None:
                return Promoted("none")
            why = switching.may_serve(stored, force=stored.promotion == "forced")
            if why is not None:
                said = f"It was not promoted: {why}. Promote it with force to have it serve all the same."
                switching.refuse(tx, index_id, said)
                return Promoted("refused", said)
            ids = switching.NewIds(JobId(uuid.uuid4().hex), JobId(uuid.uuid4().hex))
            switched = switching.flip(tx, stored, ids=ids, request_id=job.request_id, now=self._now())
        if switched is None:
            return Promoted("behind")
        log.info("index_serves", index=index_id, space=job.space, embedder=stored.wanted.name)
        for one in switched.jobs:
            self._events.changed(one.id)
        return Promoted("serves", None, [(one.queue, one.id, one.request_id) for one in switched.jobs])

    def forget(self, index_id: IndexId) -> None:
        with self._catalog.write() as tx:
            indexes.forget(tx, index_id)

    @contextmanager
    def _held(self, job: ClaimedJob) -> Iterator[Connection]:
        with self._catalog.write() as tx:
            if not index_building.is_held(tx, job.id, self._owner):
                raise LeaseLost
            yield tx


class CatalogComparisonContent:
    """The golden set and the texts that its answers stand in."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def approved(self, space: SpaceId) -> list[Question]:
        with self._catalog.read() as tx:
            return golden.approved(tx, space)

    def texts(self, space: SpaceId, ids: Collection[DocumentId]) -> dict[DocumentId, str]:
        wanted: Sequence[DocumentId] = sorted(ids)
        found: dict[DocumentId, str] = {}
        for begin in range(0, len(wanted), TEXTS_AT_ONCE):
            with self._catalog.read() as tx:
                texts = live_versions.live_texts(tx, space, wanted[begin : begin + TEXTS_AT_ONCE])
            found |= {document_id: text for (document_id, _), text in texts.items()}
        return found


def _stored(tx: Connection, index_id: IndexId) -> StoredIndex:
    stored = indexes.stored(tx, index_id)
    if stored is None:
        raise TakenOut
    return stored


def _unless_taken_out(noted: bool) -> None:
    if not noted:
        raise TakenOut


def _second_of(stored: StoredIndex) -> SecondIndex:
    target = None
    if stored.spec is not None:
        target = Target(stored.space_id, stored.id, EmbedderIdentity(**asdict(stored.spec)))
    return SecondIndex(
        id=stored.id,
        space=stored.space_id,
        phase=stored.state,
        embedder=stored.wanted.name,
        target=target,
        built_to=stored.built_to,
        vectors=stored.vectors,
        truncated=stored.truncated,
        comparison=stored.comparison,
        reason=stored.reason,
        promotion=stored.promotion,
    )
