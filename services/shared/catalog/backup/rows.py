"""Rows of whatever tables a catalog has, out of one database and into another."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    false,
    insert,
    select,
)
from sqlalchemy.types import TypeEngine

from services.shared.catalog import measuring
from services.shared.catalog.backup.form import ColumnForm, Kind, TableForm
from services.shared.catalog.columns import STORED_JSON, UtcDateTime
from services.shared.contracts.errors import ErrorCode, RagstoneError

PART_BYTES = 4_000_000
AT_ONCE: Mapping[str, int] = {"versions": 8, "evaluations": 1}
"""Rows that are fetched together, where one may be large."""
USUALLY_AT_ONCE = 500

_KINDS: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
    (JSON, Kind.JSON),
    (Boolean, Kind.TRUTH),
    (DateTime, Kind.MOMENT),
    (Integer, Kind.NUMBER),
)
_TYPES: Mapping[Kind, TypeEngine[Any]] = {
    Kind.JSON: STORED_JSON,
    Kind.TRUTH: Boolean(),
    Kind.MOMENT: UtcDateTime(),
    # PostgreSQL puts it into a smaller column where it fits.
    Kind.NUMBER: BigInteger(),
    Kind.TEXT: Text(),
}


def tables_of(tx: Connection) -> list[Table]:
    """The catalog's tables as this database has them, whatever release made it: parents before children.

    Tables of others beside them are none of ours.
    """
    found = MetaData()
    found.reflect(tx, only=lambda name, _: name in measuring.golden.metadata.tables)
    return found.sorted_tables


def form_of(table: Table) -> TableForm:
    """What the backup says of a table."""
    columns = [ColumnForm(name=column.name, kind=_kind(column.type)) for column in table.columns]
    return TableForm(name=table.name, columns=columns)


def kept(table: Table) -> Select[*tuple[Any, ...]]:
    """The rows that belong into a backup: keys that a process made for itself do not."""
    query = select(*table.columns)
    return query.where(table.c.internal == false()) if table.name == "api_keys" else query


def lines(tx: Connection, table: Table) -> Iterator[bytes]:
    """Each row as a line. They stream: a few are in memory at once."""
    query = kept(table).order_by(*table.primary_key.columns)
    kinds = [column.kind for column in form_of(table).columns]
    at_once = AT_ONCE.get(table.name, USUALLY_AT_ONCE)
    for row in tx.execution_options(yield_per=at_once).execute(query):
        yield _line([_said(kind, value) for kind, value in zip(kinds, row, strict=True)])


def insert_lines(tx: Connection, form: TableForm, body: Sequence[bytes]) -> None:
    """Put rows in. Raises RagstoneError for one that this database does not take, ValueError for no row at all."""
    target = Table(form.name, MetaData(), *(Column(one.name, _TYPES[one.kind]) for one in form.columns))
    rows = []
    for line in body:
        values = json.loads(line)
        named = zip(form.columns, values, strict=True)
        rows.append({column.name: _meant(column.kind, value) for column, value in named})
    if not rows:
        return
    try:
        tx.execute(insert(target), rows)
    except Exception as error:
        why = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
        detail = f"rows of {form.name} cannot be put into the catalog: {why}; nothing was changed"
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, detail) from error


def _kind(type_: TypeEngine[Any]) -> Kind:
    return next((kind for known, kind in _KINDS if isinstance(type_, known)), Kind.TEXT)


def _said(kind: Kind, value: Any) -> Any:
    if value is None or kind is not Kind.MOMENT:
        return value
    # SQLite keeps UTC without saying so.
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return moment.isoformat()


def _meant(kind: Kind, value: Any) -> Any:
    return datetime.fromisoformat(value) if kind is Kind.MOMENT and value is not None else value


def _line(values: list[Any]) -> bytes:
    try:
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair, in metadata that came as an escape.
        return json.dumps(values, separators=(",", ":")).encode() + b"\n"
