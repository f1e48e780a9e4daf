"""What the columns of the catalog are made of, so that SQLite and PostgreSQL mean the same by them."""

from datetime import UTC, datetime

from sqlalchemy import JSON, DateTime, String, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC, tz-aware on both sides; SQLite, which has no zones, keeps it as sortable text."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuses a naive time: it would silently mean another moment on another machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the catalog takes times with a zone only, not {value.isoformat()}")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Gives UTC back, whatever zone the database session speaks."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


KEY = String().with_variant(Text(collation="C"), "postgresql")
"""Ids order by code point on both databases, so that a cursor means the same place on both."""

STORED_JSON = JSON(none_as_null=True)
"""Plain JSON (not JSONB): an owner's metadata comes back as it was sent, keys in their order."""
