"""Keys in the catalog: the hash alone is kept, own ones are nobody's, and a revoked one stays revoked."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.catalog.own_keys import own_key
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.key_secrets import hash_of, read, same
from services.shared.contracts.keys import CreatedKey, NewKey, Role

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def make(catalog: Catalog, name: str = "site", now: datetime = NOW, **wanted: Any) -> CreatedKey:
    with catalog.write() as tx:
        return keys.create(tx, NewKey(name=name, **wanted), now)


def internal(catalog: Catalog, now: datetime = NOW, lives: timedelta = HOUR) -> CreatedKey:
    with catalog.write() as tx:
        return keys.create_internal(tx, name="job", role=Role.READ, space=SpaceId("docs"), now=now, lives=lives)


def found(catalog: Catalog, id: str) -> keys.StoredKey | None:
    with catalog.read() as tx:
        return keys.find(tx, id)


def test_a_key_comes_back_as_it_was_made_and_its_secret_does_not(catalog: Catalog) -> None:
    made = make(
        catalog,
        public=True,
        space="docs",
        allowed_origins=["https://B.example", "https://a.example"],
        requests_per_minute=30,
        daily_tokens=0,
        expires_at=NOW + HOUR,
    )
    stored = found(catalog, made.key.id)
    assert stored is not None
    assert stored.key == made.key
    assert stored.key.allowed_origins == ["https://b.example", "https://a.example"]
    assert not stored.internal
    shown = read(made.secret)
    assert shown.id == made.key.id
    assert len(shown.secret) == 64
    assert same(shown.secret, stored.hash)
    with catalog.read() as tx:
        row = tx.execute(text("SELECT * FROM api_keys")).one()
    assert shown.secret not in repr(row)
    assert hash_of(shown.secret) in repr(row)


def test_no_two_keys_are_alike(catalog: Catalog) -> None:
    made = [make(catalog) for _ in range(20)]
    assert len({one.key.id for one in made}) == len({one.secret.split("_")[2] for one in made}) == 20


def test_the_list_is_paged_newest_first(catalog: Catalog) -> None:
    made = [make(catalog, f"k{n}", NOW + n // 2 * HOUR).key for n in range(7)]
    internal(catalog)
    listed, cursor = [], None
    while True:
        with catalog.read() as tx:
            page = keys.page(tx, limit=3, cursor=cursor)
        listed += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [one.id for one in listed] == [one.id for one in sorted(made, key=lambda k: (k.created_at, k.id))[::-1]]
    with pytest.raises(RagstoneError), catalog.read() as tx:
        keys.page(tx, limit=3, cursor="nonsense")


def test_a_key_is_revoked_once(catalog: Catalog) -> None:
    made = make(catalog)
    with catalog.write() as tx:
        assert keys.revoke(tx, made.key.id, NOW + HOUR).revoked_at == NOW + HOUR
    with catalog.write() as tx:
        assert keys.revoke(tx, made.key.id, NOW + 2 * HOUR).revoked_at == NOW + HOUR
    stored = found(catalog, made.key.id)
    assert stored is not None
    assert stored.key.revoked_at == NOW + HOUR


def test_only_an_owners_key_is_revoked(catalog: Catalog) -> None:
    for id in ("none", internal(catalog).key.id):
        with pytest.raises(RagstoneError) as refused, catalog.write() as tx:
            keys.revoke(tx, id, NOW)
        assert refused.value.code is ErrorCode.KEY_NOT_FOUND


def test_only_an_owners_key_locks_the_gateway_and_a_revoked_one_does_still(catalog: Catalog) -> None:
    internal(catalog)
    with catalog.read() as tx:
        assert not keys.any_made(tx)
    made = make(catalog, expires_at=NOW + HOUR)
    with catalog.write() as tx:
        keys.revoke(tx, made.key.id, NOW)
    with catalog.read() as tx:
        assert keys.any_made(tx)
    with catalog.write() as tx:
        assert keys.remove_all(tx) == 1
    with catalog.read() as tx:
        assert not keys.any_made(tx)


def test_use_is_noted_once_a_minute(catalog: Catalog) -> None:
    id = make(catalog).key.id
    noted = []
    for seconds in (0, 30, 59, 61):
        with catalog.write() as tx:
            noted.append(keys.note_use(tx, id, NOW + timedelta(seconds=seconds)))
    assert noted == [True, False, False, True]
    stored = found(catalog, id)
    assert stored is not None
    assert stored.key.last_used_at == NOW + timedelta(seconds=61)


def test_origins_are_those_of_public_keys_that_open(catalog: Catalog) -> None:
    make(catalog)
    make(catalog, public=True, allowed_origins=["https://a.example", "https://b.example"])
    make(catalog, public=True, allowed_origins=["https://late.example"], expires_at=NOW + HOUR)
    ended = make(catalog, public=True, allowed_origins=["https://ended.example"])
    with catalog.write() as tx:
        keys.revoke(tx, ended.key.id, NOW)
    with catalog.read() as tx:
        assert keys.public_origins(tx, NOW) == {"https://a.example", "https://b.example", "https://late.example"}
        assert keys.public_origins(tx, NOW + HOUR) == {"https://a.example", "https://b.example"}


def test_left_over_keys_of_own_processes_go_when_the_next_is_made(catalog: Catalog) -> None:
    old, young, owners = internal(catalog), internal(catalog, lives=3 * HOUR), make(catalog, expires_at=NOW + HOUR)
    internal(catalog, now=NOW + 2 * HOUR)
    assert found(catalog, old.key.id) is None
    assert found(catalog, young.key.id) is not None
    assert found(catalog, owners.key.id) is not None


def test_an_own_key_lives_as_long_as_its_block(catalog: Catalog) -> None:
    with own_key(catalog, "evaluation", Role.READ, SpaceId("docs"), HOUR) as secret:
        stored = found(catalog, read(secret).id)
        assert stored is not None
        assert stored.internal
        assert (stored.key.role, stored.key.space) == (Role.READ, "docs")
        assert stored.key.expires_at is not None
    assert found(catalog, read(secret).id) is None


def test_what_cannot_be_is_not_made(catalog: Catalog) -> None:
    with pytest.raises(RagstoneError):
        make(catalog, public=True)
    with catalog.read() as tx:
        assert not keys.any_made(tx)
