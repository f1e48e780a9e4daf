"""The command, as people type it, against a gateway in memory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.local.cli import main
from tests.contract.local.served import Start, served
from tests.contract.local.typed import Ragstone, typed, without_settings
from tests.unit.local.fakes import FakeMeasuring


@pytest.fixture
def gateway() -> FakeMeasuring:
    return FakeMeasuring()


@pytest.fixture
def settings(gateway: FakeMeasuring) -> Iterator[dict[str, str]]:
    """Of a command that asks the gateway in memory."""
    with served(gateway) as url:
        yield {"RAGSTONE_STATE_DIR": "state", "RAGSTONE_URL": url}


@pytest.fixture
def start(settings: dict[str, str], tmp_path: Path) -> Start:
    """Begins the command in a folder of its own, in a process of its own."""

    def run(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "services.local", *words],
            env={**without_settings(), **settings, "PYTHONPATH": os.getcwd()},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


@pytest.fixture
def apart(start: Start) -> Ragstone:
    """Runs the command to its end in a process of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        process = start(*words)
        said, complained = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, said, complained)

    return run


@pytest.fixture
def ragstone(settings: dict[str, str], tmp_path: Path) -> Ragstone:
    """Runs the command to its end in a folder of its own."""
    return lambda *words: typed(main, *words, folder=tmp_path, settings=settings)
