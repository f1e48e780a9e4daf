"""The keys, as the door and the owner see them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.shared.contracts.keys import CreatedKey, Key, KeyList, NewKey


@dataclass(frozen=True)
class KnownKey:
    """A key with the hash that a shown secret is compared with; ``own``: of one of Ragstone's own processes."""

    key: Key
    hash: str
    own: bool


@dataclass(frozen=True)
class KeyState:
    """``made``: an owner made a key, so everybody needs one. ``origins``: where public keys are used from."""

    made: bool
    origins: frozenset[str]


class KeyBook(Protocol):
    """Where the keys are kept. Raises RagstoneError (catalog_unavailable)."""

    async def find(self, id: str) -> KnownKey | None:
        """Any key, revoked or over too."""
        ...

    async def state(self, now: datetime) -> KeyState:
        """In one look."""
        ...

    async def note_use(self, id: str, now: datetime) -> None:
        """For the owner's list. Raises nothing: nobody waits for it."""
        ...

    async def page(self, *, limit: int, cursor: str | None) -> KeyList:
        """Newest first."""
        ...

    async def create(self, wanted: NewKey, now: datetime) -> CreatedKey:
        """Raises RagstoneError (invalid_request)."""
        ...

    async def revoke(self, id: str, now: datetime) -> Key:
        """Raises RagstoneError (key_not_found)."""
        ...


class Guard(Protocol):
    """Holds up those who try keys."""

    async def a_key_was_wrong(self, address: str) -> None:
        """Counts it. Raises RagstoneError (rate_limited, limits_unavailable)."""
        ...
