"""`ragstone backup` and `restore` where nothing runs, and the same desk in a container."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from services.local.state import RunFolder
from services.shared.catalog import chunks
from services.shared.catalog.backup import marks
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from tests.contract.catalog.building import SPACE, ingest

MODULES = ("services.local", "services.gateway")
Desk = Callable[..., subprocess.Popen[str]]


@pytest.fixture(params=MODULES)
def begin(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """Begins a command of the machine, or that of a container, on a state folder by name."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    own.pop("DATABASE_URL", None)

    def run(state: str, *words: str, limit: int | None = None, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", request.param, *words],
            env={**own, "RAGSTONE_STATE_DIR": str(tmp_path / state), "PYTHONPATH": os.getcwd(), **more},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )

    return run


def done(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def fill(state: Path, number: int = 5) -> None:
    state.mkdir()
    catalog, blobs = Catalog(f"sqlite:///{state}/catalog.db"), Blobs(state / "blobs")
    catalog.migrate()
    with catalog.write() as tx:
        for n in range(number):
            sha256, _ = blobs.put(os.urandom(2000) + str(n).encode())
            ingest(tx, f"doc-{n}", f"content {n}", blob_sha256=sha256)
    catalog.close()


def documents(state: Path) -> int:
    catalog = Catalog(f"sqlite:///{state}/catalog.db")
    try:
        with catalog.read() as tx:
            return chunks.counts(tx, SPACE)[0]
    finally:
        catalog.close()


def test_one_file_holds_it_and_gives_it_back(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old")
    (tmp_path / "profile.yaml").write_text("language: de\n")
    profile = {"RAGSTONE_PROFILE": str(tmp_path / "profile.yaml")}
    code, said, err = done(begin("old", "backup", "b.tar.gz", **profile))
    assert (code, err) == (0, "")
    assert said.startswith("Backed up 5 documents in 1 space, 5 originals, the profile: b.tar.gz, ")
    assert "only you can read it (mode 0600)" in said
    assert stat.S_IMODE((tmp_path / "b.tar.gz").stat().st_mode) == 0o600
    code, said, err = done(begin("old", "backup", "b.tar.gz"))
    assert (code, said) == (1, "")
    assert "there already" in err
    code, said, _ = done(begin("old", "backup", "b.tar.gz", "--check", "--json"))
    assert (code, json.loads(said)["documents"], json.loads(said)["left_out"]) == (0, 5, 0)
    code, said, _ = done(begin("new", "restore", "b.tar.gz"))
    assert (code, documents(tmp_path / "new")) == (0, 5)
    assert "Restored 5 documents in 1 space" in said
    assert "The profile is " in said
    assert (tmp_path / "new" / "profile.yaml").read_text() == "language: de\n"
    assert not list((tmp_path / "new").glob("*restoring*"))


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_what_is_there_is_lost_only_when_that_is_meant(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "new")
    assert done(begin("new", "backup", "b.tar.gz"))[0] == 0
    code, said, err = done(begin("new", "restore", "b.tar.gz"))
    assert (code, said) == (1, "")
    assert "the catalog is not empty: it holds 5 documents in 1 space (main)" in err
    code, said, err = done(begin("new", "restore", "b.tar.gz", "--replace"))
    assert code == 1
    assert "This removes what the catalog holds: 5 documents" in err
    assert "--yes" in err
    assert done(begin("new", "restore", "b.tar.gz", "--replace", "--yes", "--json"))[0] == 0


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_a_folder_gets_a_file_named_after_the_time(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old", 1)
    (tmp_path / "backups").mkdir()
    code, said, _ = done(begin("old", "backup", "backups", "--json"))
    assert code == 0
    (made,) = (tmp_path / "backups").iterdir()
    assert json.loads(said)["file"] == f"backups/{made.name}"
    assert made.name.startswith("ragstone-20")


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_nothing_is_left_of_a_file_that_could_not_be_written(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old", 100)
    code, said, err = done(begin("old", "backup", "b.tar.gz", limit=100_000))
    assert (code, said) == (1, "")
    assert "b.tar.gz cannot be written: File too large; make room" in err
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_a_damaged_catalog_is_replaced(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old")
    assert done(begin("old", "backup", "b.tar.gz"))[0] == 0
    (tmp_path / "old" / "catalog.db").write_bytes(b"spoilt" * 5000)
    code, _, err = done(begin("old", "restore", "b.tar.gz"))
    assert code == 1
    assert "it holds a catalog that cannot be read (file is not a database)" in err
    assert done(begin("old", "restore", "b.tar.gz", "--replace", "--yes"))[0] == 0
    assert documents(tmp_path / "old") == 5


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_a_damaged_file_changes_nothing(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old")
    assert done(begin("old", "backup", "b.tar.gz"))[0] == 0
    whole = (tmp_path / "b.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[:-2000])
    before = (tmp_path / "old" / "catalog.db").read_bytes()
    code, _, err = done(begin("old", "restore", "cut.tar.gz", "--replace", "--yes"))
    assert code == 1
    assert "cut.tar.gz is no sound backup: it is cut off " in err
    assert (tmp_path / "old" / "catalog.db").read_bytes() == before
    assert done(begin("new", "restore", "cut.tar.gz"))[0] == 1
    assert not (tmp_path / "new" / "catalog.db").exists()


def test_a_catalog_in_use_is_not_replaced(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old")
    assert done(begin("old", "backup", "b.tar.gz"))[0] == 0
    user = Catalog(f"sqlite:///{tmp_path}/old/catalog.db")
    user.check()
    code, _, err = done(begin("old", "restore", "b.tar.gz", "--replace", "--yes"))
    user.close()
    assert code == 1
    assert "in use" in err
    assert "stop everything" in err


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_a_state_folder_on_which_ragstone_runs_is_refused(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old")
    assert done(begin("old", "backup", "b.tar.gz"))[0] == 0
    folder = RunFolder(tmp_path / "new")
    assert folder.take()
    code, _, err = done(begin("new", "restore", "b.tar.gz"))
    folder.release()
    assert code == 1
    assert "Ragstone runs on" in err
    assert "ragstone down" in err


@pytest.mark.parametrize("begin", ["services.local"], indirect=True)
def test_a_kill_leaves_nothing_or_the_whole_and_it_is_said(begin: Desk, tmp_path: Path) -> None:
    fill(tmp_path / "old", 600)
    assert done(begin("old", "backup", "b.tar.gz"))[0] == 0
    fill(tmp_path / "new", 2)
    seen = set()
    for wait_s in (0.0, 0.2):
        process = begin("new", "restore", "b.tar.gz", "--replace", "--yes")
        deadline = time.monotonic() + 30
        note = tmp_path / "new" / marks.NOTE
        while not (note.exists() and note.stat().st_size) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        seen.add(documents(tmp_path / "new"))
        assert seen <= {2, 600}
    assert 2 in seen
    code, _, err = done(begin("new", "restore", "b.tar.gz", "--replace", "--yes"))
    assert (code, documents(tmp_path / "new")) == (0, 600)
    assert "was killed" in err
    assert not list((tmp_path / "new").glob("*restoring*"))


@pytest.mark.parametrize(("words", "code"), [(("backup",), 2), (("restore",), 2), (("backup", "--help"), 0)])
def test_wrong_words_are_named(begin: Desk, tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    found, out, err = done(begin("new", *words))
    assert found == code
    assert "usage: " in out + err
    assert not (tmp_path / "new" / "catalog.db").exists()


def test_nothing_there_is_nothing_to_back_up(begin: Desk, tmp_path: Path) -> None:
    code, _, err = done(begin("new", "backup", "b.tar.gz"))
    assert code == 1
    assert "there is no catalog" in err
    assert not (tmp_path / "b.tar.gz").exists()
