"""Any content of the catalog comes out of a backup as it went in, from either database into either."""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Boolean, Column, Integer, String, Table, insert

from services.shared.catalog import measuring
from services.shared.catalog.backup import restoring
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.columns import UtcDateTime
from services.shared.catalog.engine import Catalog
from tests.contract.catalog.backing_up import back_up, content, silent
from tests.contract.catalog.building import NOW

TABLES = measuring.golden.metadata.sorted_tables
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
# The catalog keeps nothing smaller: SQLite takes a bare number of a JSON column for a number of its own.
DOCUMENTS = st.lists(VALUES, max_size=3) | st.dictionaries(WORDS, VALUES, max_size=3)
ROWS = 3


def values_of(column: Column[Any]) -> st.SearchStrategy[Any]:
    """Whatever the column takes."""
    kind = column.type
    if isinstance(kind, Boolean):
        return st.booleans()
    if isinstance(kind, UtcDateTime):
        return MOMENTS
    if isinstance(kind, BigInteger):
        return st.integers(-(2**63), 2**63 - 1)
    if isinstance(kind, Integer):
        return st.integers(-(2**31), 2**31 - 1)
    if column.name == "blob_sha256":
        return st.binary(min_size=32, max_size=32).map(bytes.hex)
    if isinstance(kind, String):
        # PostgreSQL counts the characters of a short word.
        return WORDS.map(lambda word: word[: kind.length]) if kind.length else WORDS
    if column.name in ("payload", "embedder"):
        return st.dictionaries(WORDS, VALUES, max_size=3).map(lambda value: value | {"name": "model"})
    return DOCUMENTS


def row_of(draw: Callable[[st.SearchStrategy[Any]], Any], table: Table, rows: dict[str, list[dict[str, Any]]]) -> Any:
    """A row whose parents are there; None when a table of them is empty."""
    row: dict[str, Any] = {}
    for key in sorted(table.foreign_key_constraints, key=lambda key: -len(key.elements)):
        parents = rows[key.referred_table.name]
        fitting = [
            parent
            for parent in parents
            if all(row.get(e.parent.name, parent[e.column.name]) == parent[e.column.name] for e in key.elements)
        ]
        if not fitting:
            return None
        parent = draw(st.sampled_from(fitting))
        row |= {element.parent.name: parent[element.column.name] for element in key.elements}
    for column in table.columns:
        if column.name not in row:
            row[column.name] = draw(values_of(column) | st.none() if column.nullable else values_of(column))
    # No process made these keys for itself, and an index that serves is alone in its space.
    return row | {name: value for name, value in (("internal", False), ("state", "ready")) if name in row}


@st.composite
def catalogs(draw: Any) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table, parents first."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for table in TABLES:
        drawn: dict[tuple[Any, ...], dict[str, Any]] = {}
        for _ in range(draw(st.integers(0, ROWS))):
            row = row_of(draw, table, rows)
            if row is not None:
                drawn[tuple(row[column.name] for column in table.primary_key.columns)] = row
        unique = [index for index in table.indexes if index.unique and index.dialect_options["sqlite"]["where"] is None]
        kept = list(drawn.values())
        for index in unique:
            kept = list({tuple(row[column.name] for column in index.columns): row for row in kept}.values())
        rows[table.name] = kept
    return rows


def fill(catalog: Catalog, rows: dict[str, list[dict[str, Any]]]) -> None:
    with catalog.write() as tx:
        for table in reversed(TABLES):
            tx.execute(table.delete())
        for table in TABLES:
            if rows[table.name]:
                tx.execute(insert(table), rows[table.name])


@settings(
    max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(rows=catalogs())
def test_any_content_comes_out_as_it_went_in(
    catalog: Catalog, migrated_file: Path, rows: dict[str, list[dict[str, Any]]]
) -> None:
    """Written from one of the databases, read into SQLite, and back from there."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        # Nobody works with it here, and what an index or a job says may be anything.
        patch.setattr(restoring, "waken", lambda *_: 0)
        folder = Path(name)
        blobs = Blobs(folder / "blobs")
        fill(catalog, rows)
        before = content(catalog)
        back_up(catalog, blobs, folder / "first")
        own, url = f"sqlite:///{folder}/other.db", catalog._url.render_as_string(False)
        restoring.restore(folder / "first", own, blobs, folder, NOW, silent)
        other = Catalog(own)
        assert content(other) == before
        back_up(other, blobs, folder / "second")
        other.close()
        catalog.close()
        restoring.restore(folder / "second", url, blobs, folder, NOW, silent)
        assert content(catalog) == before
