"""The record of an index, and how it is read from its row."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Row

from services.shared.catalog import schema
from services.shared.contracts.ids import ChunkId, IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexComparison, IndexPhase

SERVING = "serving"

Promotion = Literal["asked", "forced"]


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
    state: IndexPhase = IndexPhase.SERVING


@dataclass(frozen=True)
class WantedEmbedder:
    """The embedder as it was asked for; None is what the model names."""

    name: str
    query_prompt: str | None
    document_prompt: str | None


@dataclass(frozen=True)
class StoredIndex:
    """Everything that is known of an index."""

    id: IndexId
    space_id: SpaceId
    state: IndexPhase
    """As stored: one whose building failed is ``building`` still, without a job that is at it."""
    wanted: WantedEmbedder
    spec: EmbedderSpec | None
    """None until the embedder was loaded once; there is no collection before that."""
    collection: str
    seq: int
    built_to: ChunkId | None
    vectors: int
    truncated: int
    comparison: IndexComparison | None
    job_id: JobId | None
    reason: str | None
    promotion: Promotion | None
    promoted_at: datetime | None
    created_at: datetime


_i = schema.indexes.c
SHORT = (_i.id, _i.space_id, _i.embedder, _i.collection, _i.created_at, _i.state)
"""What a query selects for ``from_row``."""

WHOLE = tuple(_i)
"""What a query selects for ``stored_from_row``."""


def collection_of(id: IndexId) -> str:
    """The name of an index's collection."""
    return f"ragstone-{id}"


def known(stored: dict[str, Any]) -> bool:
    """Was the embedder of this record loaded once?"""
    return stored.get("dimension") is not None


def spec_of(stored: dict[str, Any]) -> EmbedderSpec:
    """The embedder out of its record."""
    return EmbedderSpec(**{field.name: stored[field.name] for field in fields(EmbedderSpec)})


def from_row(row: Row[*tuple[Any, ...]]) -> IndexRow:
    """An index from the columns of its table, by name."""
    return IndexRow(row.id, row.space_id, spec_of(row.embedder), row.collection, row.created_at, IndexPhase(row.state))


def stored_from_row(row: Row[*tuple[Any, ...]]) -> StoredIndex:
    """An index from all columns of its table."""
    values = dict(row._mapping)
    embedder = values.pop("embedder")
    comparison = values["comparison"]
    wanted = WantedEmbedder(embedder["name"], embedder.get("query_prompt"), embedder.get("document_prompt"))
    return StoredIndex(
        **values
        | {
            "state": IndexPhase(values["state"]),
            "wanted": wanted,
            "spec": spec_of(embedder) if known(embedder) else None,
            "comparison": None if comparison is None else IndexComparison.model_validate(comparison),
        }
    )


def short(stored: StoredIndex) -> IndexRow | None:
    """What other rooms need of it; None before its embedder was loaded once."""
    if stored.spec is None:
        return None
    return IndexRow(stored.id, stored.space_id, stored.spec, stored.collection, stored.created_at, stored.state)
