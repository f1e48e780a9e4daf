"""A command as it is typed, run in the test's own process: to start one takes two seconds of processor time.

Each command is started for real as well, by one test of its file.
"""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

Ragstone = Callable[..., subprocess.CompletedProcess[str]]
"""The command with these words, run to its end."""


def without_settings() -> dict[str, str]:
    """The environment but for what would steer Ragstone."""
    ours = ("RAGSTONE_", "DATABASE_URL")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def typed(
    main: Callable[[], object], *words: str, folder: Path, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """What ``main`` does and says with these words in a folder, and its exit code."""
    said, complained = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as place, Path(os.devnull).open() as nothing:
        for name in os.environ.keys() - without_settings().keys():
            place.delenv(name)
        for name, value in settings.items():
            place.setenv(name, value)
        place.chdir(folder)
        place.setattr(sys, "argv", ["ragstone", *words])
        place.setattr(sys, "stdin", nothing)
        with redirect_stdout(said), redirect_stderr(complained):
            code = _ended(main)
    return subprocess.CompletedProcess(words, code, said.getvalue(), complained.getvalue())


def _ended(main: Callable[[], object]) -> int:
    """The exit code, as Python ends a process with it."""
    try:
        main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
            return 1
        return ended.code or 0
    return 0
