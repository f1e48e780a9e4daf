"""Who asks, and what they may do."""

from dataclasses import dataclass

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.keys import Role
from services.shared.contracts.writing import PUBLIC


@dataclass(frozen=True)
class Payer:
    """Whose daily budget of tokens pays for an answer; ``daily_tokens`` None: the setting's.

    ``counted_as``: for whom a question without an answer is noted; None: it is not noted.
    """

    client: str = PUBLIC
    daily_tokens: int | None = None
    counted_as: str | None = None


PUBLIC_PAYER = Payer()
"""Everybody without a key."""


@dataclass(frozen=True)
class Caller:
    """One request's caller. Without keys everybody is the owner.

    ``key_id`` is None without a key; ``space`` is None where every space may be named. ``address`` is the caller's
    own, told by trusted proxies only. ``own``: one of Ragstone's own processes, which no limit holds up.
    """

    address: str
    key_id: str | None = None
    name: str | None = None
    role: Role = Role.ADMIN
    space: SpaceId | None = None
    public: bool = False
    own: bool = False
    requests_per_minute: int | None = None
    daily_tokens: int | None = None

    @property
    def payer(self) -> Payer:
        """Whose daily budget of tokens pays for its answers."""
        return Payer(self.key_id or PUBLIC, self.daily_tokens, self.counted_as)

    @property
    def counted_as(self) -> str | None:
        """For whom a question without an answer is noted: visitors by their address, others by their key.

        None for Ragstone's own processes, such as evaluations.
        """
        if self.own:
            return None
        return self.address if self.key_id is None or self.public else self.key_id

    def check(self, needed: Role, *, public: bool) -> None:
        """Raises ROLE_INSUFFICIENT when it may not do what needs this role; ``public``: a public key may do it."""
        if self.public and not public:
            detail = "A public key only asks, searches, shows sources and judges answers; use another key for this."
            raise RagstoneError(ErrorCode.ROLE_INSUFFICIENT, detail)
        if not self.role.allows(needed):
            detail = f"This needs a key with the role {needed}, and this key has {self.role}; use or create another."
            raise RagstoneError(ErrorCode.ROLE_INSUFFICIENT, detail)

    def space_of(self, named: SpaceId | None, default: SpaceId) -> SpaceId:
        """The space to work in. Raises SPACE_NOT_ALLOWED when another one is named than the key's."""
        if self.space is None:
            return named or default
        if named is not None and named != self.space:
            detail = f"This key belongs to one space, and not to {named!r}; leave the header Ragstone-Space out."
            raise RagstoneError(ErrorCode.SPACE_NOT_ALLOWED, detail)
        return self.space
