"""The change log: what became live or was removed, numbered per space without gaps, in commit order.

Whoever has seen change n never finds a new change with a number up to n later.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, bindparam, insert, select

from services.shared.catalog import schema, spaces
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId

ChangeKind = Literal["publish", "remove"]

_CURRENT = select(schema.spaces.c.seq).where(schema.spaces.c.id == bindparam("space"))
_INSERT = insert(schema.changes)


@dataclass(frozen=True)
class Change:
    """One step of a document: ``version_id`` is live from here on (None: nothing is), ``old_version_id`` was."""

    seq: int
    kind: ChangeKind
    document_id: DocumentId
    version_id: VersionId | None
    old_version_id: VersionId | None


def current_seq(tx: Connection, space: SpaceId) -> int:
    """The number of the space's last change; 0 for a space that nothing was ever written to."""
    return tx.execute(_CURRENT, {"space": space}).scalar_one_or_none() or 0


def current_seqs(tx: Connection) -> dict[SpaceId, int]:
    """The number of each space's last change."""
    return {SpaceId(row.id): row.seq for row in tx.execute(select(schema.spaces.c.id, schema.spaces.c.seq))}


def since(tx: Connection, space: SpaceId, seq: int, limit: int = 1000) -> list[Change]:
    """The next changes after ``seq``, oldest first."""
    c = schema.changes.c
    rows = tx.execute(
        select(c.seq, c.kind, c.document_id, c.version_id, c.old_version_id)
        .where(c.space_id == space, c.seq > seq)
        .order_by(c.seq)
        .limit(limit)
    )
    return [Change(*row) for row in rows]


def removed_after(tx: Connection, space: SpaceId, seq: int) -> bool:
    """Was any document deleted after change ``seq``?"""
    c = schema.changes.c
    later = select(c.seq).where(c.space_id == space, c.seq > seq, c.kind == "remove").limit(1)
    return tx.execute(later).first() is not None


def record(
    tx: Connection,
    space: SpaceId,
    kind: ChangeKind,
    document_id: DocumentId,
    *,
    version_id: VersionId | None,
    old_version_id: VersionId | None,
    now: datetime,
) -> int:
    """Numbers a change and writes it down; the transaction must hold the space."""
    seq = spaces.advance(tx, space)
    row = {
        "space_id": space,
        "seq": seq,
        "kind": kind,
        "document_id": document_id,
        "version_id": version_id,
        "old_version_id": old_version_id,
        "at": now,
    }
    tx.execute(_INSERT, row)
    return seq
