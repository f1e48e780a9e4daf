"""The catalog, read beside the event loop."""

from collections.abc import Sequence

from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import Chunk, EmbedderIdentity, ServingIndex, SpaceState
from services.shared.catalog import calibrations, changes, chunks, indexes, live_versions
from services.shared.catalog.engine import Catalog
from services.shared.catalog.standing import standing
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId
from services.shared.contracts.indexes import IndexPhase

THREADS = 8

SEARCHABLE = frozenset({IndexPhase.BUILDING, IndexPhase.READY, IndexPhase.SERVING, IndexPhase.STANDBY})


class CatalogRecords:
    """The port ``Records`` over ``services.shared.catalog``."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._threads = Threads(THREADS)

    async def state(self, space: SpaceId, index: IndexId | None = None) -> SpaceState:
        """Change number, index and its calibration, read in one snapshot."""
        if index is not None:
            return await self._threads.run(self._state_with, space, index)
        return await self._threads.run(self._state, space)

    async def live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        """The chunks among ``ids`` that are live now."""
        if not ids:
            return {}
        return await self._threads.run(self._live, space, ids)

    async def chunks_of(self, space: SpaceId, document: DocumentId) -> list[Chunk]:
        """The live chunks of a document."""
        return await self._threads.run(self._chunks_of, space, document)

    async def count(self, space: SpaceId) -> int:
        """Live chunks of the space."""
        return await self._threads.run(self._count, space)

    async def serving(self) -> list[ServingIndex]:
        """The serving index of every space."""
        return await self._threads.run(self._serving)

    async def in_use(self) -> list[ServingIndex]:
        """The indexes of all spaces that may be searched: first those that serve, then those that may serve next."""
        return await self._threads.run(self._in_use)

    async def migrate(self) -> None:
        """Make or update the tables."""
        await self._threads.run(self._catalog.migrate)

    def _state(self, space: SpaceId) -> SpaceState:
        with self._catalog.read() as tx:
            now = standing(tx, space)
        return SpaceState(now.seq, None if now.index is None else _index(now.index), now.calibration)

    def _state_with(self, space: SpaceId, id: IndexId) -> SpaceState:
        with self._catalog.read() as tx:
            found = indexes.find(tx, id)
            if found is None or found.space_id != space or found.state not in SEARCHABLE:
                detail = f"There is no index {id[:80]!r} in space {space} that can be searched; see GET /v1/indexes."
                raise RagstoneError(ErrorCode.INDEX_NOT_FOUND, detail)
            return SpaceState(changes.current_seq(tx, space), _index(found), calibrations.current(tx, space, id))

    def _live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        with self._catalog.read() as tx:
            return {found.id: _chunk(found) for found in chunks.live_chunks(tx, space, ids).values()}

    def _chunks_of(self, space: SpaceId, document: DocumentId) -> list[Chunk]:
        with self._catalog.read() as tx:
            live = live_versions.live_of(tx, space, [document])
            return [_chunk(chunk) for one in live for chunk in chunks.chunks_of_version(tx, space, one.id)]

    def _count(self, space: SpaceId) -> int:
        with self._catalog.read() as tx:
            return chunks.counts(tx, space)[1]

    def _serving(self) -> list[ServingIndex]:
        with self._catalog.read() as tx:
            return [_index(row) for row in indexes.all_serving(tx)]

    def _in_use(self) -> list[ServingIndex]:
        with self._catalog.read() as tx:
            rows = [row for row in indexes.with_collection(tx) if row.state in SEARCHABLE]
        return [_index(row) for row in sorted(rows, key=lambda row: row.state is not IndexPhase.SERVING)]


def identity(spec: indexes.EmbedderSpec) -> EmbedderIdentity:
    """The part of a model's specification that must not differ."""
    return EmbedderIdentity(
        name=spec.name,
        revision=spec.revision,
        dimension=spec.dimension,
        query_prompt=spec.query_prompt,
        document_prompt=spec.document_prompt,
    )


def _index(row: indexes.IndexRow) -> ServingIndex:
    return ServingIndex(id=row.id, space=row.space_id, embedder=identity(row.embedder))


def _chunk(found: chunks.LiveChunk) -> Chunk:
    return Chunk(
        id=found.id,
        document_id=found.document_id,
        version_id=found.version_id,
        title=found.title,
        section=found.section,
        type=found.type,
        tags=tuple(found.tags),
        source=found.source,
        text=found.text,
        lead=found.lead,
        start=found.start,
        end=found.end,
        kind=found.kind,
        search_text=found.search_text,
        places=tuple(found.places),
    )
