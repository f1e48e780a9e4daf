"""The door to the database: transactions, migrations, restarts, forks, and its errors in our words."""

import contextlib
import multiprocessing
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from services.shared.catalog import chunks, documents, measuring
from services.shared.catalog.engine import Catalog
from services.shared.catalog.shape import MIGRATIONS
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.building import NOW, SPACE, OnPurpose, at_once, break_off, chunk_ids, draft, ingest
from tests.contract.catalog.processes import migrate, speak_for_itself


def test_processes_that_start_together_migrate_once(bare_url: str) -> None:
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(3)
    starting = [context.Process(target=migrate, args=(bare_url, gate)) for _ in range(3)]
    for process in starting:
        process.start()
    for process in starting:
        process.join(timeout=90)
    assert [process.exitcode for process in starting] == [0, 0, 0]
    catalog = Catalog(bare_url)
    with catalog.write() as tx:
        assert tx.execute(text("SELECT count(*) FROM alembic_version")).scalar_one() == 1
        ingest(tx)
    catalog.migrate()
    with catalog.read() as tx:
        assert chunks.counts(tx, SPACE) == (1, 2)
    catalog.close()


def test_threads_that_start_together_migrate_once(bare_url: str) -> None:
    catalog = Catalog(bare_url)
    at_once([catalog.migrate] * 3)
    catalog.check()
    catalog.close()


def test_the_migrations_make_exactly_the_schema(catalog: Catalog) -> None:
    with catalog.read() as tx:
        assert compare_metadata(MigrationContext.configure(tx), measuring.golden.metadata) == []


def test_the_migrations_can_be_packaged() -> None:
    """Build tools take along the modules of regular packages, and nothing else without being told."""
    for folder in (MIGRATIONS, MIGRATIONS / "versions"):
        assert (folder / "__init__.py").is_file()
        strays = [path.name for path in folder.iterdir() if path.is_file() and path.suffix not in (".py", ".pyc")]
        assert strays == []


def test_everything_is_there_after_reopening(url: str) -> None:
    first = Catalog(url)
    with first.write() as tx:
        sent = ingest(tx, title="Kept", metadata={"a": 1})
        before = documents.get(tx, SPACE, sent.document_id)
        shown = chunks.live_chunks(tx, SPACE, chunk_ids(sent))
    first.close()
    second = Catalog(url)
    second.migrate()
    with second.read() as tx:
        assert documents.get(tx, SPACE, sent.document_id) == before
        assert chunks.live_chunks(tx, SPACE, chunk_ids(sent)) == shown
    second.close()


def test_a_reader_sees_one_moment(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
    with catalog.read() as reader:
        assert chunks.counts(reader, SPACE) == (1, 2)
        with catalog.write() as tx:
            ingest(tx, "b")
        assert chunks.counts(reader, SPACE) == (1, 2)
    with catalog.read() as reader:
        assert chunks.counts(reader, SPACE) == (2, 4)


def test_a_reader_cannot_write_and_the_connection_is_not_spoilt(catalog: Catalog) -> None:
    with pytest.raises(RagstoneError), catalog.read() as tx:
        documents.submit(tx, SPACE, draft(), NOW)
    with catalog.write() as tx:
        ingest(tx)
    with catalog.read() as tx:
        assert chunks.counts(tx, SPACE) == (1, 2)


def test_a_failing_block_leaves_nothing_behind(catalog: Catalog) -> None:
    with contextlib.suppress(OnPurpose), catalog.write() as tx:
        ingest(tx)
        break_off()
    with catalog.read() as tx:
        assert chunks.counts(tx, SPACE) == (0, 0)


def test_many_threads_share_a_catalog(catalog: Catalog) -> None:
    def work(n: int) -> int:
        with catalog.write() as tx:
            ingest(tx, f"doc-{n}")
        with catalog.read() as tx:
            return chunks.counts(tx, SPACE)[0]

    assert max(at_once([partial(work, n) for n in range(12)])) == 12


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_forked_child_uses_connections_of_its_own(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        mine = tx.connection.dbapi_connection
    child = multiprocessing.get_context("fork").Process(target=speak_for_itself, args=(catalog, mine))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    with catalog.write() as tx:
        ingest(tx, "b")
    with catalog.read() as tx:
        assert chunks.counts(tx, SPACE) == (2, 4)


def test_a_catalog_without_tables_says_what_to_do(bare_url: str) -> None:
    catalog = Catalog(bare_url)
    with pytest.raises(RagstoneError) as missing:
        catalog.check()
    assert missing.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert "migration" in missing.value.detail
    catalog.close()


def test_the_folder_of_an_sqlite_file_is_made(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path}/new/deep folder/catalog.db")
    catalog.migrate()
    catalog.check()
    with catalog.read() as tx:
        modes = [tx.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("journal_mode", "foreign_keys")]
    assert modes == ["wal", 1]
    catalog.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RagstoneError) as refused:
        Catalog(f"sqlite:///{tmp_path}/file/catalog.db")
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert str(tmp_path / "file") in refused.value.detail


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"not a database, but long enough to be taken for one" * 100)
    catalog = Catalog(f"sqlite:///{tmp_path}/catalog.db")
    with pytest.raises(RagstoneError) as refused:
        catalog.check()
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert "catalog.db" in refused.value.detail


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    catalog = Catalog("postgresql://user:s3cret@127.0.0.1:1/ragstone")
    with pytest.raises(RagstoneError) as refused:
        catalog.check()
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert "127.0.0.1" in refused.value.detail
    assert "s3cret" not in str(refused.value)
    catalog.close()


@pytest.mark.parametrize("url", ["", "catalog.db", "mysql://host/db", "sqlite://", "sqlite:///:memory:"])
def test_a_url_that_cannot_hold_a_catalog_is_refused(url: str) -> None:
    with pytest.raises(RagstoneError) as refused:
        Catalog(url)
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
