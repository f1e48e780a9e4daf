"""The row of a space: its lock, and the counter that numbers its changes.

One rule keeps PostgreSQL free of deadlocks and the changes in commit order: a transaction that touches a
space's documents, versions or chunks takes the space's row first and keeps it until it commits. SQLite's
``BEGIN IMMEDIATE`` gives the same for the whole file.
"""

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from services.shared.catalog.schema import spaces
from services.shared.catalog.upserts import upserting
from services.shared.contracts.ids import SpaceId

# FOR NO KEY UPDATE: an insert that only refers to the space (a foreign key) does not wait.
_LOCK = select(spaces.c.seq).where(spaces.c.id == bindparam("space")).with_for_update(key_share=True)
_ADVANCE = update(spaces).where(spaces.c.id == bindparam("space")).values(seq=spaces.c.seq + 1).returning(spaces.c.seq)


def lock(tx: Connection, space: SpaceId) -> int | None:
    """Takes the space until the transaction ends; its change number, or None when there is no such space."""
    seq: int | None = tx.execute(_LOCK, {"space": space}).scalar_one_or_none()
    return seq


def make_and_lock(tx: Connection, space: SpaceId, now: datetime) -> int:
    """Like ``lock``, but makes a space at its first write, also when several come at once."""
    seq = lock(tx, space)
    if seq is None:
        row = {"id": space, "seq": 0, "created_at": now}
        tx.execute(upserting(tx, spaces).values(row).on_conflict_do_nothing())
        seq = tx.execute(_LOCK, {"space": space}).scalar_one()
    return seq


def made_at(tx: Connection, space: SpaceId) -> datetime | None:
    """When the space was made; None when there is no such space."""
    made: datetime | None = tx.execute(select(spaces.c.created_at).where(spaces.c.id == space)).scalar_one_or_none()
    return made


def advance(tx: Connection, space: SpaceId) -> int:
    """The next change number of a space that this transaction has locked."""
    seq: int = tx.execute(_ADVANCE, {"space": space}).scalar_one()
    return seq
