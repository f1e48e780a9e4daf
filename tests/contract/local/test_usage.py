"""The `ragstone` command used wrongly: one line, and exit code 2."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from services.local.cli import main
from tests.contract.local.typed import Ragstone, typed, without_settings


@pytest.fixture
def ragstone(tmp_path: Path) -> Ragstone:
    """Runs the command where nothing runs."""

    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return typed(
            main, *words, folder=tmp_path, settings={"RAGSTONE_STATE_DIR": str(tmp_path / "state"), **settings}
        )

    return run


@pytest.fixture
def apart(tmp_path: Path) -> Ragstone:
    """The same in a process of its own."""

    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "services.local", *words],
            env={**without_settings(), "RAGSTONE_STATE_DIR": str(tmp_path / "state"), **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (["up", "--port", "99999"], {}, "--port is 99999; allowed is a whole number from 1 to 65535, such as 8000."),
        (["up"], {"RAGSTONE_PORT": "abc"}, "RAGSTONE_PORT is 'abc'; allowed is a whole number from 1 to 65535, such"),
        (["doctor"], {"RAGSTONE_REDIS_PORT": "0"}, "RAGSTONE_REDIS_PORT is '0'; allowed is a whole number from 1"),
        (["up"], {"RAGSTONE_START_TIMEOUT_S": "-1"}, "RAGSTONE_START_TIMEOUT_S is '-1'; allowed is a number above 0"),
        (["up"], {"RAGSTONE_STATE_DIR": os.devnull}, f"RAGSTONE_STATE_DIR is '{os.devnull}'; allowed is a folder"),
        (["status"], {"RAGSTONE_STATE_DIR": f"{os.devnull}/x"}, f"RAGSTONE_STATE_DIR is '{os.devnull}/x'; allowed"),
    ],
)
def test_a_wrong_setting_is_one_line(ragstone: Ragstone, words: list[str], settings: dict[str, str], said: str) -> None:
    refused = ragstone(*words, **settings)
    assert refused.returncode == 2
    assert refused.stderr.startswith(said)
    assert len(refused.stderr.splitlines()) == 1


def test_an_empty_setting_counts_as_not_set(apart: Ragstone) -> None:
    found = apart("jobs", RAGSTONE_REDIS_PORT="", RAGSTONE_PORT="", RAGSTONE_URL="http://127.0.0.1:1")
    assert found.returncode == 4, found.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["ingest", ""],
        ["ingest", " "],
        ["ask", ""],
        ["ask", " \n"],
        ["search", ""],
        ["up", "--ingest", ""],
        ["up", "--ask", ""],
        ["up", "--ingest", "no-such-folder"],
    ],
)
def test_emptiness_is_refused(ragstone: Ragstone, words: list[str]) -> None:
    refused = ragstone(*words)
    assert refused.returncode == 2, refused.stdout
    assert "Usage: ragstone " in refused.stderr


def test_a_wrong_setting_ends_a_process_with_one_line_too(apart: Ragstone) -> None:
    refused = apart("up", RAGSTONE_PORT="abc")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert refused.stderr.startswith("RAGSTONE_PORT is 'abc'; allowed is")


def test_an_address_needs_no_scheme(ragstone: Ragstone) -> None:
    asked = ragstone("ask", "Anyone?", "--url", "127.0.0.1:1")
    assert asked.returncode == 4
    assert "No gateway answers at http://127.0.0.1:1." in asked.stderr


def test_the_version_is_said(apart: Ragstone) -> None:
    assert apart("--version").stdout == f"ragstone {version('ragstone')}\n"
