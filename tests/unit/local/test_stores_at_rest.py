"""The files of a stack that does not run: a damaged vector store is set aside, a damaged catalog only named."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.local.settings import LocalSettings
from services.local.stores import at_rest, set_aside
from services.shared.catalog.backup.marks import NOTE, Mark


@pytest.fixture
def settings(tmp_path: Path) -> LocalSettings:
    for file in (tmp_path / "catalog.db", tmp_path / "chroma" / "chroma.sqlite3"):
        file.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE kept (word TEXT)")
            connection.executemany("INSERT INTO kept VALUES (?)", [("x" * 500,)] * 200)
            connection.commit()
    return LocalSettings(state_dir=tmp_path)


def _spoil(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : 4096 * 8] = b"\xff" * (4096 * 7)
    file.write_bytes(data)


def test_sound_files_are_said_to_be(settings: LocalSettings) -> None:
    assert {(one.name, one.level) for one in at_rest(settings, repair=True)} == {
        ("catalog", "ok"),
        ("vector store", "ok"),
    }


def test_a_damaged_vector_store_is_named_and_set_aside_only_when_asked_to(settings: LocalSettings) -> None:
    folder = settings.state_dir / "chroma"
    _spoil(folder / "chroma.sqlite3")
    (named,) = (one for one in at_rest(settings, repair=False) if one.name == "vector store")
    assert (named.level, folder.exists()) == ("fail", True)
    assert "doctor --repair" in named.detail
    (done,) = (one for one in at_rest(settings, repair=True) if one.name == "vector store")
    assert (done.level, folder.exists()) == ("warn", False)
    (aside,) = settings.state_dir.glob("chroma-damaged-*")
    assert (aside / "chroma.sqlite3").exists()
    assert [aside.name in one.detail for one in set_aside(settings)] == [True]
    assert aside.name in done.detail


def test_a_damaged_catalog_is_never_touched(settings: LocalSettings) -> None:
    _spoil(settings.state_dir / "catalog.db")
    before = (settings.state_dir / "catalog.db").read_bytes()
    (named,) = (one for one in at_rest(settings, repair=True) if one.name == "catalog")
    assert named.level == "fail"
    assert "backup" in named.detail
    assert (settings.state_dir / "catalog.db").read_bytes() == before


def test_a_catalog_of_a_later_release_is_named(settings: LocalSettings) -> None:
    with closing(sqlite3.connect(settings.state_dir / "catalog.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('9012')")
        connection.commit()
    (named,) = (one for one in at_rest(settings, repair=False) if one.name == "catalog")
    assert named.level == "fail"
    assert "is of schema 9012; this program" in named.detail


def test_a_restore_that_was_killed_is_named_and_tidied_up_when_asked_to(settings: LocalSettings) -> None:
    beside = settings.state_dir / "catalog.db.restoring"
    beside.write_bytes(b"half")
    mark = Mark(file="b.tar.gz", began_at=datetime.now(UTC), beside=str(beside), transaction=None)
    (settings.state_dir / NOTE).write_text(mark.model_dump_json())
    (named,) = (one for one in at_rest(settings, repair=False) if one.name == "restore")
    assert (named.level, beside.exists()) == ("warn", True)
    (done,) = (one for one in at_rest(settings, repair=True) if one.name == "restore")
    assert (done.level, beside.exists()) == ("warn", False)
    assert "nothing of it counts" in done.detail
    assert [one for one in at_rest(settings, repair=True) if one.name == "restore"] == []


def test_a_fresh_folder_has_nothing_to_look_at(tmp_path: Path) -> None:
    assert list(at_rest(LocalSettings(state_dir=tmp_path), repair=True)) == []
