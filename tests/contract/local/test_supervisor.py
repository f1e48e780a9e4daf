"""The supervisor with real processes: order, failure, restarts, and above all that nothing stays behind."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from services.local.state import Run, RunFolder

PATIENCE_S = 25.0


def until(what: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Wait for something, at most ``patience_s``."""
    deadline = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


class Scene:
    """A scripted run in a process of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = RunFolder(folder)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.local.scripted_run", str(folder), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ready(self) -> Run:
        until(lambda: (run := self.folder.read()) is not None and run.state == "ready")
        run = self.folder.read()
        assert run is not None
        return run

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def pid(self, name: str) -> int:
        run = self.folder.read()
        assert run is not None
        pid = next(part.pid for part in run.parts if part.name == name)
        assert pid is not None
        return pid

    def output(self) -> str:
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        return said


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[str], Scene]]:
    scenes: list[Scene] = []

    def start(name: str) -> Scene:
        scenes.append(Scene(tmp_path / "state", name))
        return scenes[-1]

    yield start
    for scene in scenes:
        if scene.process.poll() is None:
            scene.process.send_signal(signal.SIGTERM)
            scene.process.wait(timeout=PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_and_leaves_nobody(begin: Callable[[str], Scene], number: signal.Signals) -> None:
    scene = begin("plain")
    scene.ready()
    family = scene.family()
    assert len(family) >= 6  # four parts, the worker's child, the guardian
    began = time.monotonic()
    scene.process.send_signal(number)
    said = scene.output()
    assert time.monotonic() - began < 10
    assert scene.process.returncode == 0
    assert alive(family) == []
    assert scene.folder.read() is None
    assert "stopped; nothing is left running" in said


def test_parts_start_after_what_they_wait_for_and_complaints_are_shown(begin: Callable[[str], Scene]) -> None:
    scene = begin("plain")
    scene.ready()
    scene.process.send_signal(signal.SIGINT)
    lines = scene.output().splitlines()
    up = [line.split("|")[0].strip() for line in lines if "is up" in line]
    assert up.index("redis") < up.index("worker") < up.index("gateway")
    assert any("mind this" in line for line in lines)
    assert not any("begun" in line for line in lines)
    assert "begun" in (scene.folder.logs / "redis.log").read_text()


def test_a_part_that_ignores_the_signal_is_killed_with_its_children(begin: Callable[[str], Scene]) -> None:
    scene = begin("stubborn")
    scene.ready()
    family = scene.family()
    scene.process.send_signal(signal.SIGTERM)
    scene.output()
    assert alive(family) == []


def test_a_killed_supervisor_takes_its_parts_and_their_children_with_it(begin: Callable[[str], Scene]) -> None:
    scene = begin("plain")
    scene.ready()
    family = scene.family()
    scene.process.kill()
    scene.process.wait()
    until(lambda: alive(family) == [], 8)


def test_a_new_run_cleans_up_what_a_killed_one_left(begin: Callable[[str], Scene]) -> None:
    first = begin("stubborn")
    first.ready()
    family = [process for process in first.family() if "guardian" not in " ".join(process.cmdline())]
    guardians = [process for process in first.family() if process not in family]
    for process in guardians:
        process.kill()
    first.process.kill()
    first.process.wait()
    assert alive(family) != []
    second = begin("plain")
    until(lambda: (run := second.folder.live()) is not None and run.state == "ready")
    assert alive(family) == []


def test_two_supervisors_never_share_a_folder(begin: Callable[[str], Scene]) -> None:
    begin("plain").ready()
    second = begin("plain")
    assert second.process.wait(timeout=PATIENCE_S) == 9


def test_a_part_that_fails_at_start_stops_all_and_shows_its_last_lines(begin: Callable[[str], Scene]) -> None:
    scene = begin("failing")
    said = scene.output()
    assert scene.process.returncode == 1
    assert "retriever | ended with code 3 before it was ready" in said
    assert "no model here" in said
    assert "retriever.log" in said
    assert "gateway   | is up" not in said


def test_a_part_that_is_never_ready_is_given_up_with_the_reason(begin: Callable[[str], Scene]) -> None:
    scene = begin("never-ready")
    said = scene.output()
    assert scene.process.returncode == 1
    assert "retriever | is not ready after 3 s: http://127.0.0.1" in said


def test_a_command_that_is_not_there_is_said(begin: Callable[[str], Scene]) -> None:
    scene = begin("missing")
    said = scene.output()
    assert scene.process.returncode == 1
    assert "chroma   | cannot be started" in said


def test_a_part_that_dies_is_started_again_and_given_up_when_it_keeps_dying(begin: Callable[[str], Scene]) -> None:
    scene = begin("plain")
    scene.ready()
    seen = set[int]()
    for _ in range(3):
        until(lambda: (run := scene.folder.read()) is not None and all(part.state == "up" for part in run.parts))
        pid = scene.pid("retriever")
        assert pid not in seen
        seen.add(pid)
        psutil.Process(pid).kill()
        until(lambda: (run := scene.folder.read()) is None or any(part.state != "up" for part in run.parts))
    said = scene.output()
    assert scene.process.returncode == 1
    assert "starting it again at once" in said
    assert "starting it again in 0.2 s" in said
    assert "is up again" in said
    assert "it died 3 times in 5 minutes" in said
