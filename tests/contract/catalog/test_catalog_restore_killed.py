"""What became of a restore that was killed: nothing, or the whole, and it is said."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from services.shared.catalog.backup import marks, target
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.building import NOW

FILE = Path("backup.tar.gz")


def killed(state: Path, beside: Path | None = None, transaction: str | None = None) -> None:
    """Leave the note behind as a killed process does."""
    state.mkdir(exist_ok=True)
    mark = marks.Mark(
        file=str(FILE), began_at=NOW, beside=None if beside is None else str(beside), transaction=transaction
    )
    (state / marks.NOTE).write_text(mark.model_dump_json())
    marks.lay_aside(state, b"language: de\n")


def names(state: Path) -> set[str]:
    return {path.name for path in state.iterdir()}


def test_before_the_file_is_in_its_place_there_is_nothing(tmp_path: Path) -> None:
    beside = tmp_path / "catalog.db.restoring"
    for ending in ("", "-wal", "-shm"):
        Path(f"{beside}{ending}").write_bytes(b"half")
    killed(tmp_path, beside)
    found = marks.settle(tmp_path, f"sqlite:///{tmp_path}/catalog.db")
    assert found is not None
    assert (found.whole, found.profile) == (False, None)
    assert (
        "backup.tar.gz, begun 2026-03-01 12:00 UTC, was killed before its end: nothing of it counts" in found.sentence
    )
    assert names(tmp_path) == set()


def test_once_the_file_is_in_its_place_it_is_whole(tmp_path: Path) -> None:
    killed(tmp_path, tmp_path / "catalog.db.restoring")
    found = marks.settle(tmp_path, f"sqlite:///{tmp_path}/catalog.db")
    assert found is not None
    assert (found.whole, found.profile) == (True, tmp_path / "profile.yaml")
    assert "whole" in found.sentence
    assert names(tmp_path) == {"profile.yaml"}


@pytest.mark.parametrize("commits", [True, False])
def test_postgresql_says_what_became_of_its_transaction(bare_url: str, tmp_path: Path, commits: bool) -> None:
    if bare_url.startswith("sqlite"):
        pytest.skip("of PostgreSQL")
    catalog = Catalog(bare_url)
    with catalog._engine.connect() as connection:
        id = str(connection.execute(text("SELECT CAST(pg_current_xact_id() AS text)")).scalar_one())
        if commits:
            connection.commit()
        else:
            connection.rollback()
    catalog.close()
    killed(tmp_path / "state", transaction=id)
    found = marks.settle(tmp_path / "state", bare_url)
    assert found is not None
    assert found.whole is commits
    assert names(tmp_path / "state") == ({"profile.yaml"} if commits else set())


def test_one_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    with marks.Note(tmp_path, FILE) as note:
        note.say(beside=tmp_path / "catalog.db.restoring")
        assert marks.settle(tmp_path, f"sqlite:///{tmp_path}/catalog.db") is None
        with pytest.raises(RagstoneError) as refused, marks.Note(tmp_path, FILE):
            pass
        assert refused.value.code is ErrorCode.BUSY
        assert marks.pending(tmp_path)
        marks.finish(tmp_path)
    assert names(tmp_path) == set()


def test_one_that_was_killed_before_it_began_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / marks.NOTE).touch()
    assert marks.settle(tmp_path, f"sqlite:///{tmp_path}/catalog.db") is None
    assert names(tmp_path) == set()


def test_a_catalog_that_somebody_has_open_is_in_use(url: str) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("the database of these tests is everybody's")
    idle = Catalog(url)
    idle.check()
    with pytest.raises(RagstoneError) as refused, target.alone(url, readable=True):
        pass
    assert refused.value.code is ErrorCode.BUSY
    assert "ragstone down" in refused.value.detail
    idle.close()
    assert idle.file is not None
    locked = pytest.raises(sqlite3.OperationalError, match="locked")
    with target.alone(url, readable=True), closing(sqlite3.connect(idle.file, timeout=0.1)) as other, locked:
        other.execute("SELECT seq FROM spaces")
    idle.check()
    idle.close()


def test_a_catalog_that_cannot_be_read_is_something_to_replace(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"no database, but long enough to be taken for one" * 100)
    found = target.standing(f"sqlite:///{tmp_path}/catalog.db")
    assert found is not None
    assert found.sentence == "a catalog that cannot be read (file is not a database)"
    assert target.standing(f"sqlite:///{tmp_path}/missing.db") is None
    assert not (tmp_path / "missing.db").exists()
