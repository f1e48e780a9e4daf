"""The command, as people start it, against a gateway in memory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.local.served import Ragstone, Start, served
from tests.unit.local.fakes import FakeMeasuring


@pytest.fixture
def gateway() -> FakeMeasuring:
    return FakeMeasuring()


@pytest.fixture
def start(gateway: FakeMeasuring, tmp_path: Path) -> Iterator[Start]:
    """Begins the command in a folder of its own."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    with served(gateway) as url:

        def run(*words: str) -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, "-m", "services.local", *words],
                env={**own, "RAGSTONE_STATE_DIR": "state", "RAGSTONE_URL": url, "PYTHONPATH": os.getcwd()},
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )

        yield run


@pytest.fixture
def ragstone(start: Start) -> Ragstone:
    """Runs the command to its end."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        process = start(*words)
        said, complained = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, said, complained)

    return run
