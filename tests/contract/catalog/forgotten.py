"""A document that says one strange word everywhere, and everything that a catalog holds."""

import json
from typing import Any

from sqlalchemy import select

from services.shared.catalog import documents, schema
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId
from tests.contract.catalog.building import SPACE, later

DOC = DocumentId("döc/1: a")
CANARY = "Zebrafinch-Größe"
SAID: dict[str, Any] = {
    "filename": f"{CANARY}.md",
    "title": CANARY,
    "type": CANARY,
    "tags": [CANARY],
    "source": CANARY,
    "metadata": {"k": [CANARY]},
}


def everything(catalog: Catalog) -> str:
    """Every row of every table, JSON as text."""
    with catalog.read() as tx:
        rows = [
            {column: str(value) for column, value in row._mapping.items()}
            for table in schema.tables.sorted_tables
            for row in tx.execute(select(table))
        ]
    return json.dumps(rows, ensure_ascii=False)


def remove(catalog: Catalog, id: str = DOC) -> documents.Removed:
    """Delete the document, a second after it was sent."""
    with catalog.write() as tx:
        removed = documents.remove(tx, SPACE, DocumentId(id), later(1))
    assert removed is not None
    return removed
