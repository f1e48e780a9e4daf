"""Which index serves a space, and the one embedder that all its vectors come from."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from services.shared.catalog import schema, spaces
from services.shared.contracts.ids import IndexId, SpaceId

SERVING = "serving"


@dataclass(frozen=True)
class EmbedderSpec:
    """Everything that decides a vector: two vectors compare only when all of this is equal."""

    name: str
    revision: str
    """SHA-256 of the weights, hex."""
    dimension: int
    query_prompt: str
    document_prompt: str
    max_tokens: int


@dataclass(frozen=True)
class IndexRow:
    """A vector collection and the embedder that fills it."""

    id: IndexId
    space_id: SpaceId
    embedder: EmbedderSpec
    collection: str
    created_at: datetime


_c = schema.indexes.c
_ALL = select(_c.id, _c.space_id, _c.embedder, _c.collection, _c.created_at)
_SERVING = _ALL.where(_c.state == SERVING)


def serving(tx: Connection, space: SpaceId) -> IndexRow | None:
    """The index that answers for the space; None until something was ingested into it."""
    row = tx.execute(_SERVING.where(_c.space_id == space)).one_or_none()
    return None if row is None else from_row(row)


def find(tx: Connection, id: IndexId) -> IndexRow | None:
    """An index by its id, also one that does not serve any more; None when it was taken out."""
    row = tx.execute(_ALL.where(_c.id == id)).one_or_none()
    return None if row is None else from_row(row)


def create(tx: Connection, space: SpaceId, *, id: IndexId, embedder: EmbedderSpec, now: datetime) -> IndexRow:
    """Makes the space's index, or returns the one that another worker made first: compare its embedder."""
    spaces.make_and_lock(tx, space, now)
    existing = serving(tx, space)
    if existing is not None:
        return existing
    row = {
        "id": id,
        "space_id": space,
        "state": SERVING,
        "embedder": asdict(embedder),
        "collection": f"ragstone-{id}",
        "created_at": now,
    }
    tx.execute(insert(schema.indexes), row)
    return IndexRow(id, space, embedder, f"ragstone-{id}", now)


def all_serving(tx: Connection) -> list[IndexRow]:
    """The serving index of every space, by space."""
    return [from_row(row) for row in tx.execute(_SERVING.order_by(_c.space_id))]


def from_row(row: Row[*tuple[Any, ...]]) -> IndexRow:
    """An index from the columns of its table, by name."""
    stored = row.embedder
    embedder = EmbedderSpec(**{field.name: stored[field.name] for field in fields(EmbedderSpec)})
    return IndexRow(row.id, row.space_id, embedder, row.collection, row.created_at)
