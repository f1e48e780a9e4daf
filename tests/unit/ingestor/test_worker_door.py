"""The queue door and what guards the fork."""

import subprocess
import sys

import pytest

from services.ingestor.adapters.background import one_behind
from services.ingestor.adapters.owner import dead, this_process
from services.ingestor.settings import IngestorSettings
from services.ingestor.tasks import refuse_model_before_fork, worker_app
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import WORK_TASK


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


def test_a_dead_process_of_this_host_is_told_from_a_living_one() -> None:
    me = this_process()
    host, pid, _ = me.rsplit(":", 2)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = f"{host}:{ended.pid}:1.00"
    reused = f"{host}:{pid}:1.00"
    elsewhere = "another-host:1:1.00"
    assert dead([me, gone, reused, elsewhere, "nonsense"]) == {gone, reused}


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
