"""Chunks that may be shown: only those of the version that is live at this moment.

``live_chunks`` is the gate of the first invariant: indexes propose ids, this module decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, select

from services.shared.catalog import schema
from services.shared.catalog.document_rows import ChunkKind
from services.shared.contracts.ids import ChunkId, DocumentId, SpaceId, VersionId
from services.shared.contracts.places import Place

IDS_PER_QUERY = 500
"""SQLite takes a limited number of variables in one statement (999 in old builds)."""

_c, _v, _d = schema.chunks.c, schema.versions.c, schema.documents.c

_LIVE = (
    select(
        _c.id,
        _c.document_id,
        _c.version_id,
        _v.title,
        _c.section,
        _v.type,
        _v.tags,
        _v.source,
        _c.text,
        _c.lead,
        _c.start,
        _c.end,
        _c.kind,
        _c.search_text,
        _v.language,
        _c.places,
    )
    .join_from(
        schema.chunks,
        schema.documents,
        and_(_d.space_id == _c.space_id, _d.id == _c.document_id, _d.live_version_id == _c.version_id),
    )
    .join(
        schema.versions,
        and_(_v.space_id == _c.space_id, _v.document_id == _c.document_id, _v.id == _c.version_id),
    )
    .where(_c.space_id == bindparam("space"))
)
_LIVE_BY_ID = _LIVE.where(_c.id.in_(bindparam("ids", expanding=True)))
_LIVE_AFTER = _LIVE.where(_c.id > bindparam("after")).order_by(_c.id).limit(bindparam("batch"))
_LIVE_OF_VERSION = _LIVE.where(_c.version_id == bindparam("version")).order_by(_c.ordinal)


@dataclass(frozen=True)
class LiveChunk:
    """A chunk with its version's description; ``text[lead:]`` equals ``version.text[start:end]``."""

    id: ChunkId
    document_id: DocumentId
    version_id: VersionId
    title: str
    section: str
    type: str | None
    tags: list[str]
    source: str | None
    text: str
    lead: int
    start: int
    end: int
    kind: ChunkKind
    search_text: str
    language: str | None
    """Of the whole version, a BCP 47 tag; None when nobody could tell, or when it was written before anybody told."""
    places: Sequence[Place] = ()


def live_chunks(tx: Connection, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, LiveChunk]:
    """Those of ``ids`` whose version is live in this space now; an id that is not simply is missing."""
    wanted = list(dict.fromkeys(ids))
    found: dict[ChunkId, LiveChunk] = {}
    for begin in range(0, len(wanted), IDS_PER_QUERY):
        rows = tx.execute(_LIVE_BY_ID, {"space": space, "ids": wanted[begin : begin + IDS_PER_QUERY]})
        found.update((row[0], _read(row)) for row in rows)
    return found


def chunks_of_version(tx: Connection, space: SpaceId, version_id: VersionId) -> list[LiveChunk]:
    """A live version's chunks in their order; none when the version is not live."""
    return [_read(row) for row in tx.execute(_LIVE_OF_VERSION, {"space": space, "version": version_id})]


def iter_live(tx: Connection, space: SpaceId, batch: int = 1000) -> Iterator[LiveChunk]:
    """Every live chunk of a space by id; ``batch`` of them are held in memory at a time."""
    after = ChunkId("")
    while True:
        found = live_after(tx, space, after, batch)
        yield from found
        if len(found) < batch:
            return
        after = found[-1].id


def live_after(tx: Connection, space: SpaceId, after: ChunkId, batch: int) -> list[LiveChunk]:
    """The next live chunks by id, behind ``after``."""
    rows = tx.execute(_LIVE_AFTER, {"space": space, "after": after, "batch": batch})
    return [_read(row) for row in rows]


def counts(tx: Connection, space: SpaceId) -> tuple[int, int]:
    """How many documents and chunks of the space are live."""
    row = tx.execute(
        select(func.count(), func.coalesce(func.sum(_v.chunk_count), 0))
        .select_from(schema.documents)
        .join(
            schema.versions,
            and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id),
        )
        .where(_d.space_id == space)
    ).one()
    return int(row[0]), int(row[1])


def live_sizes(tx: Connection, space: SpaceId) -> dict[VersionId, int]:
    """How many chunks each live version of the space has."""
    rows = tx.execute(
        select(_v.id, _v.chunk_count)
        .select_from(schema.documents)
        .join(
            schema.versions,
            and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id),
        )
        .where(_d.space_id == space)
    )
    return {VersionId(id): int(number) for id, number in rows}


def _read(row: Sequence[Any]) -> LiveChunk:
    places = [Place(start=start, label=label) for start, label in row[-1] or ()]
    return LiveChunk(*(*row[:-1], places))
