"""Catalogs of other releases: an older one is migrated once, with a copy of what it was; a newer one is refused."""

import multiprocessing
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from services.shared.catalog import shape
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.building import OnPurpose, break_off, ingest
from tests.contract.catalog.processes import migrate

OLD = "0005"
ROW = "INSERT INTO spaces (id, seq, created_at) VALUES ('main', 7, '2026-03-01 12:00:00.000000')"


@pytest.fixture
def old(bare_url: str) -> Iterator[Catalog]:
    """A catalog of an earlier release that holds something."""
    catalog = Catalog(bare_url)
    with catalog.write() as tx:
        shape.upgrade(tx, OLD)
        tx.execute(text(ROW))
    yield catalog
    catalog.close()


def copies(catalog: Catalog) -> list[Path]:
    return [] if catalog.file is None else shape.copies(catalog.file)


def seq(catalog: Catalog) -> int:
    with catalog.read() as tx:
        return int(tx.execute(text("SELECT seq FROM spaces")).scalar_one())


def test_processes_that_start_together_on_an_older_one_migrate_it_once(old: Catalog, bare_url: str) -> None:
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(3)
    starting = [context.Process(target=migrate, args=(bare_url, gate)) for _ in range(3)]
    for process in starting:
        process.start()
    for process in starting:
        process.join(timeout=90)
    assert [process.exitcode for process in starting] == [0, 0, 0]
    assert old.revision() == shape.newest()
    assert seq(old) == 7
    if old.file is None:
        return
    (copy,) = copies(old)
    assert copy.name == f"{old.file.name}.before-{shape.newest()}"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    before = Catalog(f"sqlite:///{copy}")
    assert (before.revision(), seq(before)) == (OLD, 7)
    before.close()


def test_a_new_catalog_and_one_in_shape_leave_no_copy(bare_url: str) -> None:
    catalog = Catalog(bare_url)
    catalog.migrate()
    with catalog.write() as tx:
        ingest(tx)
    catalog.migrate()
    assert copies(catalog) == []
    catalog.close()


def test_who_comes_second_waits_longer_than_a_writer_waits_usually(old: Catalog, bare_url: str) -> None:
    """The first one copies a large file meanwhile."""
    second = multiprocessing.get_context("spawn").Process(target=_migrate_soon, args=(bare_url,))
    with suppress(OnPurpose), old.write() as tx:
        old.lock_shape(tx)
        second.start()
        time.sleep(2)
        assert second.is_alive()
        break_off()
    second.join(timeout=60)
    assert second.exitcode == 0
    assert old.revision() == shape.newest()


def _migrate_soon(url: str) -> None:
    from services.shared.catalog import engine

    # The usual patience is over at once.
    engine.BUSY_TIMEOUT_S = 0
    catalog = Catalog(url)
    catalog.migrate()
    catalog.close()


def test_a_copy_that_finds_no_room_leaves_the_catalog_alone(old: Catalog) -> None:
    if old.file is None:
        pytest.skip("PostgreSQL is not copied")
    (old.file.parent / f"{old.file.name}.before-{shape.newest()}.partial").mkdir()
    with pytest.raises(RagstoneError) as refused:
        old.migrate()
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert "no copy of" in refused.value.detail
    assert old.revision() == OLD


def test_copies_go_after_a_while(old: Catalog) -> None:
    if old.file is None:
        pytest.skip("PostgreSQL is not copied")
    old.migrate()
    (copy,) = copies(old)
    assert shape.forget_copies(old.file, 60) == []
    os.utime(copy, (time.time() - 61,) * 2)
    assert shape.forget_copies(old.file, 60) == [copy]
    assert copies(old) == []


def test_a_catalog_of_a_later_release_is_refused_and_left_alone(old: Catalog) -> None:
    with old.write() as tx:
        tx.execute(text("UPDATE alembic_version SET version_num = '9012'"))
    for refusing in (old.migrate, old.refuse_newer):
        with pytest.raises(RagstoneError) as refused:
            refusing()
        assert refused.value.code is ErrorCode.CATALOG_NEWER
        assert "is of schema 9012" in refused.value.detail
        assert f"knows up to {shape.newest()}: install" in refused.value.detail
    assert old.revision() == "9012"
    assert copies(old) == []
