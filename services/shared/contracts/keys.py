"""API keys: who may do what, in which space."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import SpaceId

KEY_PREFIX = "rs_"
"""Begins every secret, so that people and secret scanners know what it is."""

NAME_MAX = 100
ORIGINS_MAX = 20


class Role(StrEnum):
    """What a key may do; each may do what the one before may."""

    READ = "read"
    """Ask, search, read documents, judge answers."""
    WRITE = "write"
    """Change documents, indexes and everything else of its space."""
    ADMIN = "admin"
    """Everything, in every space; keys too."""

    def allows(self, needed: "Role") -> bool:
        """Is it at least the needed role?"""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(needed)


class NewKey(Request):
    """``POST /v1/keys``."""

    name: str = Field(min_length=1, max_length=NAME_MAX, description="What it is for, such as: website")
    role: Role = Role.READ
    space: SpaceId | None = Field(default=None, description="The one space of a read or write key; null: main")
    public: bool = Field(
        default=False,
        description="May stand in a web page for everybody to see: a read key that only asks, searches, shows sources "
        "and judges answers, and only from allowed_origins",
    )
    allowed_origins: list[str] = Field(
        default_factory=list, max_length=ORIGINS_MAX, description="Web pages that may use it, as https://example.com"
    )
    requests_per_minute: int | None = Field(
        default=None, ge=1, description="Questions a minute; null: RAGSTONE_LIMIT_KEY"
    )
    daily_tokens: int | None = Field(
        default=None, ge=0, description="Tokens of the model a day (UTC); null: RAGSTONE_DAILY_TOKENS; 0: no limit"
    )
    expires_at: datetime | None = Field(default=None, description="null: never")


class Key(Response):
    """A key without its secret, which nobody can read again."""

    id: str = Field(description="Stands in the secret too: rs_<id>_<secret>")
    name: str
    role: Role
    space: SpaceId | None = Field(description="null for an admin key: every space")
    public: bool
    allowed_origins: list[str]
    requests_per_minute: int | None
    daily_tokens: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To within a minute; null: never")


class CreatedKey(Response):
    key: Key
    secret: str = Field(description="Shown this once; only its hash is kept")


class KeyList(Response):
    items: list[Key]
    next_cursor: str | None
