"""Keys in memory, made and counted by tests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from services.gateway.ports.keys import KeyState, KnownKey
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.key_rules import checked
from services.shared.contracts.key_secrets import hash_of, written
from services.shared.contracts.keys import CreatedKey, Key, KeyList, NewKey, Role


@dataclass
class FakeKeys:
    """``looks`` names each question that was put to the catalog."""

    known: dict[str, KnownKey] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    def make(self, role: Role = Role.READ, *, own: bool = False, **wanted: Any) -> str:
        """A key made just now; its whole secret."""
        return self._made(NewKey(name="a key", role=role, **wanted), datetime.now(UTC), own=own).secret

    def change(self, secret: str, **values: Any) -> None:
        """As if time had gone by, or another process had done it."""
        known = self.known[secret.split("_")[1]]
        self.known[known.key.id] = KnownKey(known.key.model_copy(update=values), known.hash, known.own)

    async def find(self, id: str) -> KnownKey | None:
        self.looks.append(id)
        return self.known.get(id)

    async def state(self, now: datetime) -> KeyState:
        self.looks.append("state")
        owners = [one.key for one in self.known.values() if not one.own]
        live = [key for key in owners if key.revoked_at is None and key.public]
        return KeyState(bool(owners), frozenset(origin for key in live for origin in key.allowed_origins))

    async def note_use(self, id: str, now: datetime) -> None:
        self.used.append(id)

    async def page(self, *, limit: int, cursor: str | None) -> KeyList:
        return KeyList(items=[one.key for one in self.known.values() if not one.own][:limit], next_cursor=None)

    async def create(self, wanted: NewKey, now: datetime) -> CreatedKey:
        return self._made(wanted, now, own=False)

    async def revoke(self, id: str, now: datetime) -> Key:
        if id not in self.known:
            raise RagstoneError(ErrorCode.KEY_NOT_FOUND, f"no key {id}")
        known = self.known[id]
        self.known[id] = KnownKey(known.key.model_copy(update={"revoked_at": now}), known.hash, known.own)
        return self.known[id].key

    def _made(self, wanted: NewKey, now: datetime, *, own: bool) -> CreatedKey:
        n = len(self.known)
        secret = f"{n:064x}"
        values = {**dict(checked(wanted, now)), "created_at": now, "revoked_at": None, "last_used_at": None}
        key = Key(id=f"k{n}", **values)
        self.known[key.id] = KnownKey(key, hash_of(secret), own)
        return CreatedKey(key=key, secret=written(key.id, secret))
