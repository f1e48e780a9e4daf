"""A fresh catalog for each test: a real SQLite file always, PostgreSQL too when DATABASE_URL names one."""

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from services.shared.catalog.engine import Catalog


@pytest.fixture(params=["sqlite", "postgresql"])
def bare_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables, of its own for this test."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/data/catalog.db"
        return
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        pytest.skip("DATABASE_URL names no PostgreSQL; run tests/with_postgres.sh pytest …")
    schema = f"test_{uuid.uuid4().hex}"
    admin = create_engine(make_url(server).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield make_url(server).update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    admin.dispose()


@pytest.fixture
def url(bare_url: str, migrated_file: Path) -> str:
    """A migrated database."""
    path = make_url(bare_url).database
    if bare_url.startswith("sqlite") and path:
        Path(path).parent.mkdir(parents=True)
        shutil.copy(migrated_file, path)
    else:
        fresh = Catalog(bare_url)
        fresh.migrate()
        fresh.close()
    return bare_url


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    opened = Catalog(url)
    yield opened
    opened.close()
