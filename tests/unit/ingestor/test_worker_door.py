"""The queue door and what guards the fork."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

import psutil
import pytest

from services.ingestor.adapters.background import made_ahead, one_behind
from services.ingestor.settings import IngestorSettings
from services.ingestor.tasks import refuse_model_before_fork, worker_app
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import WORK_TASK
from services.shared.kit.owner import dead, this_process


def test_a_parent_that_has_loaded_a_model_is_refused() -> None:
    with pytest.raises(RagstoneError, match="torch is loaded in the worker's parent"):
        refuse_model_before_fork({"torch": object()})
    refuse_model_before_fork({"json": object()})


def test_the_door_and_the_wiring_load_no_model() -> None:
    heavy = ("torch", "transformers", "chromadb", "trafilatura", "charset_normalizer", "markdown_it", "lxml")
    code = f"import sys, services.ingestor.tasks, services.ingestor.wiring; print(set({heavy}) & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_the_app_takes_one_task_with_early_acknowledgement() -> None:
    app = worker_app(IngestorSettings())
    assert WORK_TASK in app.tasks
    assert app.conf.task_acks_late is False
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.task_soft_time_limit < app.conf.task_time_limit


@pytest.mark.parametrize("limit_s", [1, 600, 7200])
def test_redis_hands_no_message_out_again_while_a_task_may_still_run(
    limit_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_JOB_TIME_LIMIT_S", str(limit_s))
    app = worker_app(IngestorSettings())
    assert app.conf.task_time_limit < app.conf.broker_transport_options["visibility_timeout"]


def test_a_dead_process_of_this_host_is_told_from_a_living_one() -> None:
    me = this_process()
    host, pid, _ = me.rsplit(":", 2)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = f"{host}:{ended.pid}:1.00"
    reused = f"{host}:{pid}:1.00"
    elsewhere = "another-host:1:1.00"
    same_name = f"{socket.gethostname()}-0a1b2c3d-4026530000:{ended.pid}:1.00"
    assert dead([me, gone, reused, elsewhere, same_name, "nonsense"]) == {gone, reused}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells the start by its clock")
def test_setting_the_clock_makes_no_other_process_of_a_living_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a machine was suspended: the moment of its start, by the clock, is another one then."""
    me = this_process()
    boot = psutil.boot_time()
    for module in (psutil, psutil._pslinux):
        monkeypatch.setattr(module, "boot_time", lambda: boot + 300)
    assert not dead([me])
    assert this_process() == me


def test_the_writer_is_never_more_than_one_step_behind_and_its_error_comes_back() -> None:
    done: list[int] = []
    with one_behind() as writer:
        for n in range(5):
            writer.run(lambda n=n: done.append(n))  # type: ignore[misc]
            assert len(done) >= n
        writer.wait()
        assert done == [0, 1, 2, 3, 4]
        writer.run(lambda: done.remove(99))
        with pytest.raises(ValueError, match="not in list"):
            writer.wait()


def test_items_are_made_ahead_but_not_too_far_and_their_error_comes_where_they_are_taken() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for n in range(10):
            made.append(n)
            yield n
        raise ValueError("the end is broken")

    with made_ahead(items(), 3) as ahead:
        _until(lambda: len(made) == 3)
        time.sleep(0.05)
        assert made == [0, 1, 2], "nobody took anything yet"
        taken: list[int] = []
        while len(taken) < 10:
            taken += ahead.take()
        assert taken == list(range(10))
        with pytest.raises(ValueError, match="the end is broken"):
            ahead.take()


def test_who_stops_taking_ends_the_thread_that_makes() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for n in count():
            made.append(n)
            yield n

    with made_ahead(items(), 2) as ahead:
        ahead.take()
    so_far = len(made)
    time.sleep(0.05)
    assert len(made) == so_far < 10


def _until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 5
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.005)
