"""The story of a request at the door: who asks, by its key, or else by the machine that it comes from."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from datetime import datetime
from typing import TypeVar, cast

from services.gateway.domain.callers import Caller
from services.gateway.domain.doors import LOOPBACK_HOSTS, NO_HOSTS, Knock, bearer, host_name
from services.gateway.ports.keys import Guard, KeyBook, KeyState, KnownKey
from services.shared.contracts import key_secrets
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.keys import CreatedKey, Key, NewKey

REMEMBER_S = 1.0
"""How long what the catalog says of a key is believed: a revoked key stops within this time."""

REMEMBERED_MAX = 10_000
"""Most keys of which something is remembered, so that guessed ids fill no memory."""

NOTE_USE_EVERY_S = 60.0

# One text for all that can be wrong with a key: which it is is nobody's business.
_INVALID = "This key opens nothing: it is unknown, revoked or has run out. Ask whoever runs this gateway for another."
_REQUIRED = (
    "This needs a key: send the header Authorization: Bearer rs_…. Whoever runs this gateway makes one with "
    "`ragstone keys create NAME` on its machine, or with POST /v1/keys."
)
_FAR = (
    "No key was made yet, so only programs on the gateway's own machine may use it. Whoever runs it makes a key with "
    "`ragstone keys create NAME` there; send it in the header Authorization: Bearer rs_…."
)

Known = TypeVar("Known")


class Door:
    """Says who asks. One for the whole gateway, since it remembers for a moment what the catalog said."""

    def __init__(
        self,
        keys: KeyBook,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        guard: Guard | None = None,
        hosts: Collection[str] = (),
        without_keys: bool = False,
    ) -> None:
        """``hosts``: names beside the loopback ones that the gateway is called by while it has no keys.

        ``without_keys``: while it has none, everybody who reaches it is the owner, whatever machine they are on.
        """
        self._keys = keys
        self._clock = clock
        self._now = now
        self._guard = guard
        self._hosts = LOOPBACK_HOSTS | {host_name(host.lower()) for host in hosts} - NO_HOSTS
        self._without_keys = without_keys
        self._remembered: dict[Hashable, tuple[float, object]] = {}
        self._noted: dict[str, float] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def caller(self, knock: Knock) -> Caller:
        """Who asks.

        Raises RagstoneError (key_required, key_invalid, origin_not_allowed, host_not_allowed, catalog_unavailable,
        and what the guard raises).
        """
        shown = bearer(knock.authorization)
        found = None if shown is None else await self._opened(shown)
        if found is not None:
            return self._holder(found, knock)
        if (await self._state()).made:
            if shown is None:
                raise RagstoneError(ErrorCode.KEY_REQUIRED, _REQUIRED)
            if self._guard is not None:
                await self._guard.a_key_was_wrong(knock.address)
            raise RagstoneError(ErrorCode.KEY_INVALID, _INVALID)
        # Without keys another service's key does no harm: many clients cannot leave the header out.
        return self._owner(knock)

    async def public_origin(self, origin: str) -> bool:
        """May pages from there read answers with a public key?"""
        return origin.lower() in (await self._state()).origins

    async def strangers_may_come(self) -> bool:
        """Is there a key, so that others than the owner reach the gateway? Yes, while the catalog does not say."""
        try:
            return (await self._state()).made
        except RagstoneError:
            return True

    async def create(self, wanted: NewKey) -> CreatedKey:
        """A new key, known at once. Raises RagstoneError (invalid_request)."""
        made = await self._keys.create(wanted, self._now())
        self._remembered.clear()
        return made

    async def revoke(self, id: str) -> Key:
        """The key opens no longer, in this process at once. Raises RagstoneError (key_not_found)."""
        ended = await self._keys.revoke(id, self._now())
        self._remembered.clear()
        return ended

    async def _opened(self, shown: str) -> KnownKey | None:
        """The key, if it opens now. Hashes and compares once, whatever is shown."""
        id, secret = key_secrets.read(shown)
        known = await self._memory(id, lambda: self._keys.find(id)) if id else None
        same = key_secrets.same(secret, key_secrets.NO_HASH if known is None else known.hash)
        if known is None or not same or not self._open(known.key):
            return None
        return known

    def _open(self, key: Key) -> bool:
        return key.revoked_at is None and (key.expires_at is None or key.expires_at > self._now())

    def _holder(self, known: KnownKey, knock: Knock) -> Caller:
        key = known.key
        if key.public and (knock.origin or "").lower() not in key.allowed_origins:
            detail = (
                "This public key is for the pages of its own web addresses only, and this request is from none of "
                "them; add the address to a new key, or use a key that is not public outside of browsers."
            )
            raise RagstoneError(ErrorCode.ORIGIN_NOT_ALLOWED, detail)
        if not known.own:
            self._note(key)
        return Caller(
            address=knock.address,
            key_id=key.id,
            name=key.name,
            role=key.role,
            space=key.space,
            public=key.public,
            own=known.own,
            requests_per_minute=key.requests_per_minute,
            daily_tokens=key.daily_tokens,
        )

    def _owner(self, knock: Knock) -> Caller:
        """Whoever is on this machine, and called it by a name that no web page can point at it (DNS rebinding)."""
        if not (knock.local or self._without_keys):
            raise RagstoneError(ErrorCode.KEY_REQUIRED, _FAR)
        if host_name(knock.host.lower()) not in self._hosts:
            detail = (
                f"Without keys this gateway is not called {knock.host[:80]!r}: a web page could have chosen the name. "
                "If the name is right, put it into RAGSTONE_ALLOWED_HOSTS, or make a key with `ragstone keys create`."
            )
            raise RagstoneError(ErrorCode.HOST_NOT_ALLOWED, detail)
        return Caller(address=knock.address)

    async def _state(self) -> KeyState:
        return await self._memory(KeyState, lambda: self._keys.state(self._now()))

    async def _memory(self, of: Hashable, look: Callable[[], Awaitable[Known]]) -> Known:
        began = self._clock()
        at, known = self._remembered.get(of, (began - 2 * REMEMBER_S, None))
        if began - at < REMEMBER_S:
            return cast(Known, known)
        fresh = await look()
        if len(self._remembered) >= REMEMBERED_MAX:
            self._remembered.clear()
        self._remembered[of] = (began, fresh)
        return fresh

    def _note(self, key: Key) -> None:
        """In the background, since the catalog may be busy."""
        moment = self._clock()
        if moment - self._noted.get(key.id, moment - 2 * NOTE_USE_EVERY_S) < NOTE_USE_EVERY_S:
            return
        if len(self._noted) >= REMEMBERED_MAX:
            self._noted.clear()
        self._noted[key.id] = moment
        task = asyncio.create_task(self._keys.note_use(key.id, self._now()))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)
