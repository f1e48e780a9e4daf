"""`ragstone ingest --watch`, as people start it, on a real folder."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.local.served import Start
from tests.contract.local.typed import Ragstone
from tests.unit.local.fakes import FakeMeasuring

WITHIN_S = 20.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("about a")
    return folder


@pytest.fixture
def watching(start: Start, folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = start("ingest", str(folder), "--watch", "--json")
    yield process
    process.kill()
    process.communicate()


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_each_change_is_sent_and_ctrl_c_ends_it(
    folder: Path, watching: subprocess.Popen[str], gateway: FakeMeasuring
) -> None:
    _until(lambda: "a.md" in gateway.documents)
    assert watching.stderr is not None
    _until(lambda: "Watching" in (watching.stderr.readline() if watching.stderr else ""))
    (folder / "b.md").write_text("about b")
    _until(lambda: "b.md" in gateway.documents)
    before = gateway.documents["b.md"]["sha256"]
    (folder / "b.md").write_text("about b, more")
    _until(lambda: gateway.documents["b.md"]["sha256"] != before)
    (folder / "a.md").rename(folder / "c.md")
    _until(lambda: set(gateway.documents) == {"b.md", "c.md"})
    (folder / "b.md").unlink()
    _until(lambda: set(gateway.documents) == {"c.md"})
    (folder / "picture.png").write_bytes(b"x")
    watching.send_signal(signal.SIGINT)
    said, complained = watching.communicate(timeout=WITHIN_S)
    assert watching.returncode == 0, complained
    reports = _reports(said)
    done = [(one["new"], one["changed"], one["moved"], one["vanished"]) for one in reports]
    assert done[0] == (["a.md"], [], {}, [])
    assert done[-1] == ([], [], {}, ["b.md"])
    assert all(any(parts) for parts in done), "a look that found nothing to do says nothing"


def test_a_gateway_that_is_away_is_asked_again(
    folder: Path, watching: subprocess.Popen[str], gateway: FakeMeasuring
) -> None:
    _until(lambda: "a.md" in gateway.documents)
    assert watching.stderr is not None
    _until(lambda: "Watching" in (watching.stderr.readline() if watching.stderr else ""))
    gateway.busy = 1
    (folder / "b.md").write_text("about b")
    _until(lambda: "b.md" in gateway.documents)


@pytest.mark.parametrize("words", [["file.md", "--watch"], ["notes", "--watch", "--dry-run"]])
def test_only_a_folder_is_watched(ragstone: Ragstone, tmp_path: Path, folder: Path, words: list[str]) -> None:
    (tmp_path / "file.md").write_text("about a file")
    ended = ragstone("ingest", *words)
    assert ended.returncode == 2
    assert "only folders can be watched" in ended.stderr


def _reports(said: str) -> list[dict[str, object]]:
    reports = []
    decoder = json.JSONDecoder()
    while said.strip():
        found, end = decoder.raw_decode(said.lstrip())
        reports += found
        said = said.lstrip()[end:]
    return reports
