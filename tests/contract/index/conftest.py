"""A real catalog in SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.shared.catalog.engine import Catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(f"sqlite:///{tmp_path}/catalog.db")
    opened.migrate()
    yield opened
    opened.close()
