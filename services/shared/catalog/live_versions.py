"""Which versions are live, how each is described (what a filter asks about), and their whole texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, select

from services.shared.catalog import schema
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId

VERSIONS_PER_QUERY = 500
"""SQLite takes a limited number of variables in one statement (999 in old builds)."""

_v, _d = schema.versions.c, schema.documents.c
_LIVE = (
    select(_v.id, _v.document_id, _v.type, _v.tags, _v.chunk_count)
    .join_from(
        schema.documents,
        schema.versions,
        and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id),
    )
    .where(_d.space_id == bindparam("space"))
)
_LIVE_OF = _LIVE.where(_d.id.in_(bindparam("documents", expanding=True)))
_LIVE_TEXTS = (
    select(_v.document_id, _v.id, _v.text)
    .join_from(
        schema.documents,
        schema.versions,
        and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id),
    )
    .where(_d.space_id == bindparam("space"), _d.id.in_(bindparam("documents", expanding=True)))
)


@dataclass(frozen=True, slots=True)
class LiveVersion:
    """A version that answers now; ``chunks`` is how many it was cut into."""

    id: VersionId
    document_id: DocumentId
    type: str | None
    tags: tuple[str, ...]
    chunks: int


def all_live(tx: Connection, space: SpaceId) -> Iterator[LiveVersion]:
    """Every live version of the space."""
    for id, document_id, type, tags, count in tx.execute(_LIVE, {"space": space}):
        yield LiveVersion(id, document_id, type, tuple(tags), count)


def live_of(tx: Connection, space: SpaceId, documents: Sequence[DocumentId]) -> Iterator[LiveVersion]:
    """The live versions of these documents; a document that has none is left out."""
    for begin in range(0, len(documents), VERSIONS_PER_QUERY):
        part = list(documents[begin : begin + VERSIONS_PER_QUERY])
        for id, document_id, type, tags, count in tx.execute(_LIVE_OF, {"space": space, "documents": part}):
            yield LiveVersion(id, document_id, type, tuple(tags), count)


def those_live(tx: Connection, space: SpaceId, ids: Sequence[VersionId]) -> set[VersionId]:
    """Those of the versions that answer now."""
    found: set[VersionId] = set()
    for begin in range(0, len(ids), VERSIONS_PER_QUERY):
        named = _d.live_version_id.in_(list(ids[begin : begin + VERSIONS_PER_QUERY]))
        found.update(tx.execute(select(_d.live_version_id).where(_d.space_id == space, named)).scalars())
    return found


def live_texts(tx: Connection, space: SpaceId, ids: Sequence[DocumentId]) -> dict[tuple[DocumentId, VersionId], str]:
    """The extracted texts of these documents' live versions; one that is not live is left out."""
    rows = tx.execute(_LIVE_TEXTS, {"space": space, "documents": list(ids)})
    return {(row[0], row[1]): row[2] for row in rows}
