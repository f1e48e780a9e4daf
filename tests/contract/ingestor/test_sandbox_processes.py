"""The process that reads files: kills, threads, forks and the end of a task's time, and that nothing of it is left."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest

from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from tests.contract.ingestor.poisoned_reading import (
    LIMITS,
    POISONED,
    children,
    gone,
    only_child,
    read,
    tells_swedish,
    until,
)
from tests.unit.ingestor.fakes import TimeUp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not every limit is known elsewhere than on Linux")

ROOT = Path(__file__).parents[3]


@pytest.fixture
def parsers() -> Iterator[SandboxedParsers]:
    made = SandboxedParsers(LIMITS, tells_swedish, POISONED)
    yield made
    made.close()


def test_the_innocent_victim_of_a_kill_is_read_again() -> None:
    """The system kills somebody when it is short of memory; the file that was being read may be harmless."""
    large = "<html><body>" + ("<p>" + "A sentence about pumps in halls. " * 40 + "</p>\n") * 3_000
    parsers = SandboxedParsers(ParseLimits(), tells_swedish, POISONED)
    for fresh in (True, False):
        if fresh:
            parsers.close()
        else:
            read(parsers, "something before")
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read, parsers, large, "large.html")
            until(lambda: bool(children()) and children()[0].memory_info().rss > 80_000_000)
            os.kill(only_child(), signal.SIGKILL)
            assert "pumps in halls" in reading.result()
    parsers.close()


def test_one_that_was_killed_while_idle_is_not_missed(parsers: SandboxedParsers) -> None:
    read(parsers, "one")
    pid = only_child()
    os.kill(pid, signal.SIGKILL)
    assert read(parsers, "two") == "two"
    assert only_child() != pid


def test_the_end_of_the_tasks_time_leaves_no_answer_behind(parsers: SandboxedParsers) -> None:
    """The queue raises its exception wherever the work happens to be; the next document must not get that answer."""

    def rings(_number: int, _frame: FrameType | None) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, rings)
    read(parsers, "warm")
    try:
        large = "A paragraph of some words.\n\n" * 30_000
        interrupted = 0
        for n in range(16):
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + n * 0.003)
            try:
                assert read(parsers, large + str(n)).endswith(str(n))
            except TimeUp:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert read(parsers, f"next {n}") == f"next {n}"
            assert len(children()) == 1
        assert interrupted > 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_it_outlives_the_thread_that_first_used_it(parsers: SandboxedParsers) -> None:
    """The kernel tells a child of its parent's death when the thread that made it ends."""
    thread = threading.Thread(target=read, args=(parsers, "from a thread"))
    thread.start()
    thread.join()
    pid = only_child()
    time.sleep(0.3)
    assert not gone(pid)
    assert read(parsers, "from another") == "from another"
    assert only_child() == pid


def test_threads_take_turns(parsers: SandboxedParsers) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = [f"{n} " * (n % 7 * 5000 + 1) for n in range(80)]
        assert list(pool.map(lambda text: read(parsers, text), texts)) == texts
    assert len(children()) == 1


def test_a_forked_copy_starts_its_own(parsers: SandboxedParsers) -> None:
    read(parsers, "before the fork")
    pid = only_child()
    pid_of_copy = os.fork()
    if pid_of_copy == 0:
        try:
            right = read(parsers, "in the copy") == "in the copy" and only_child() != pid
            parsers.close()
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert read(parsers, "beside it") == "beside it"
    assert os.waitstatus_to_exitcode(os.waitpid(pid_of_copy, 0)[1]) == 0
    assert read(parsers, "and after it") == "and after it"
    assert only_child() == pid


@pytest.mark.parametrize("deed", ["HANG", "SPIN", "idle"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_orphan_outlives_a_killed_worker(deed: str, number: signal.Signals, tmp_path: Path) -> None:
    """Also one that is deep in a library, and one whose worker started it in a thread."""
    script = f"""
        import threading, time
        from services.ingestor.adapters.parsing.limits import ParseLimits
        from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
        from tests.unit.ingestor.fake_documents import incoming
        parsers = SandboxedParsers(ParseLimits(seconds=300), lambda text: None, {POISONED!r})
        def read(text):
            return parsers.parse(incoming("doc", filename="a.txt"), text).text
        print(read(b"TELL").split()[0], flush=True)
        thread = threading.Thread(target=read, args=({deed.encode()!r},))
        thread.start()
        time.sleep(600)
    """
    worker = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    reader = int(worker.stdout.readline())
    time.sleep(0.3)
    assert not gone(reader)
    worker.send_signal(number)
    worker.wait(10)
    until(lambda: gone(reader), 3)
    worker.stdout.close()


def test_what_it_started_ends_with_it(parsers: SandboxedParsers) -> None:
    started = int(read(parsers, "START").split()[1])
    assert not gone(started)
    parsers.close()
    until(lambda: gone(started), 3)
