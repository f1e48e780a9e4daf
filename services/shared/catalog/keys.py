"""API keys: of each only the hash of its secret is kept.

Once an owner made a key, the gateway asks everybody for one, also after the last key was revoked or ran out: nobody
gets in because a key is missing. Keys that Ragstone's own processes make for themselves (internal) do not count, are
never listed, and run out soon.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, false, insert, or_, select, true, update

from services.shared.catalog import cursors, schema
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.key_rules import checked
from services.shared.contracts.key_secrets import hash_of, written
from services.shared.contracts.keys import CreatedKey, Key, KeyList, NewKey, Role

NOTE_USE_EVERY = timedelta(minutes=1)

_k = schema.api_keys.c
_COLUMNS = [_k[name] for name in Key.model_fields]
_OWNERS = _k.internal == false()


@dataclass(frozen=True)
class StoredKey:
    """A key with what is never shown."""

    key: Key
    hash: str
    internal: bool


def create(tx: Connection, wanted: NewKey, now: datetime) -> CreatedKey:
    """Makes an owner's key; raises RagstoneError (invalid_request) for one that cannot be."""
    return _make(tx, checked(wanted, now), now, internal=False)


def create_internal(
    tx: Connection, *, name: str, role: Role, space: SpaceId | None, now: datetime, lives: timedelta
) -> CreatedKey:
    """Makes a key for one of Ragstone's own processes, and removes those of processes that did not come to it."""
    tx.execute(delete(schema.api_keys).where(_k.internal == true(), _k.expires_at < now))
    wanted = NewKey(name=name, role=role, space=space, expires_at=now + lives)
    return _make(tx, checked(wanted, now), now, internal=True)


def find(tx: Connection, id: str) -> StoredKey | None:
    """Any key by its id, whether it still opens or not."""
    row = tx.execute(select(*_COLUMNS, _k.hash, _k.internal).where(_k.id == id)).one_or_none()
    return None if row is None else StoredKey(_read(row), row.hash, row.internal)


def any_made(tx: Connection) -> bool:
    """Did an owner ever make a key?"""
    return tx.execute(select(_k.id).where(_OWNERS).limit(1)).first() is not None


def public_origins(tx: Connection, now: datetime) -> frozenset[str]:
    """Every origin whose pages have a public key that opens now."""
    query = select(_k.allowed_origins).where(_OWNERS, _k.public == true(), *_open(now))
    return frozenset(origin for origins in tx.execute(query).scalars() for origin in origins)


def page(tx: Connection, *, limit: int, cursor: str | None) -> KeyList:
    """The owner's keys, newest first, revoked ones too; INVALID_REQUEST for a bad cursor."""
    query = select(*_COLUMNS).where(_OWNERS)
    if cursor is not None:
        at, id = cursors.decode_moment("keys", cursor)
        query = query.where(or_(_k.created_at < at, and_(_k.created_at == at, _k.id < id)))
    query = query.order_by(_k.created_at.desc(), _k.id.desc()).limit(limit + 1)
    found = [_read(row) for row in tx.execute(query)]
    shown = found[:limit]
    more = len(found) > limit
    following = cursors.encode("keys", shown[-1].created_at.isoformat(), shown[-1].id) if more else None
    return KeyList(items=shown, next_cursor=following)


def revoke(tx: Connection, id: str, now: datetime) -> Key:
    """Ends an owner's key; again changes nothing. Raises RagstoneError (key_not_found)."""
    tx.execute(update(schema.api_keys).where(_OWNERS, _k.id == id, _k.revoked_at.is_(None)).values(revoked_at=now))
    row = tx.execute(select(*_COLUMNS).where(_OWNERS, _k.id == id)).one_or_none()
    if row is None:
        detail = f"There is no key {id[:80]!r}; GET /v1/keys lists what there is."
        raise RagstoneError(ErrorCode.KEY_NOT_FOUND, detail)
    return _read(row)


def note_use(tx: Connection, id: str, now: datetime) -> bool:
    """Notes that a key was used, at most once a minute; was it noted?"""
    stale = or_(_k.last_used_at.is_(None), _k.last_used_at < now - NOTE_USE_EVERY)
    return tx.execute(update(schema.api_keys).where(_k.id == id, stale).values(last_used_at=now)).rowcount > 0


def remove_internal(tx: Connection, id: str) -> None:
    """The process is done with its own key."""
    tx.execute(delete(schema.api_keys).where(_k.internal == true(), _k.id == id))


def remove_all(tx: Connection) -> int:
    """Forgets every key of the owner, as if none had been made; how many there were."""
    return tx.execute(delete(schema.api_keys).where(_OWNERS)).rowcount


def _open(now: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _k.revoked_at.is_(None), or_(_k.expires_at.is_(None), _k.expires_at > now)


def _make(tx: Connection, wanted: NewKey, now: datetime, *, internal: bool) -> CreatedKey:
    secret = secrets.token_hex(32)
    values = {
        **dict(wanted),
        "id": secrets.token_hex(6),
        "created_at": now,
        "revoked_at": None,
        "last_used_at": None,
    }
    tx.execute(insert(schema.api_keys), {**values, "hash": hash_of(secret), "internal": internal})
    key = Key(**values)
    return CreatedKey(key=key, secret=written(key.id, secret))


def _read(row: Row[*tuple[Any, ...]]) -> Key:
    values = dict(row._mapping)
    return Key(**{name: values[name] for name in Key.model_fields} | {"role": Role(values["role"])})
