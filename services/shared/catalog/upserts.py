"""INSERT … ON CONFLICT, which both databases have and SQLAlchemy knows by two names."""

from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert


def upserting(tx: Connection, table: Table) -> "PostgresqlInsert | SqliteInsert":
    """An insert into the table that can say what to do with rows that are there.

    The dialects are loaded when they are needed: a service that starts on SQLite need not read PostgreSQL's.
    """
    if tx.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table)
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert(table)
