"""The product's reader of files with a parser of text files that does what the text says.

Stands where a library has a fault. Run like the reader itself: ``python -m … PARENT LIMITS``.
"""

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from services.ingestor.adapters.parsers import files, plain_text
from services.ingestor.adapters.parsing import child
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.kinds import FileKind

kept: list[bytes] = []


def _forever() -> None:
    while True:
        time.sleep(1)


def _in_c() -> None:
    """Holds the interpreter's lock and never comes back to Python."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def _eats() -> None:
    while True:
        kept.append(b"x" * 10_000_000)


def _keeps(size: int) -> str:
    kept.append(os.urandom(1) * size)
    return "kept"


def _fails_for_memory() -> None:
    """Like a library in C that is refused memory and takes its file for damaged."""
    try:
        _eats()
    except MemoryError:
        raise ValueError("unknown error") from None
    finally:
        kept.clear()


def _tells() -> str:
    limits = {
        name: resource.getrlimit(getattr(resource, name))[0]
        for name in ("RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_AS")
    }
    open_files = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    return f"{os.getpid()} {limits} open={open_files} env={sorted(os.environ)} stdin={sys.stdin.read()!r} done"


def _prints() -> str:
    print("a library's chatter " * 50_000, flush=True)  # noqa: T201
    os.write(1, b"chatter past Python\n")
    os.write(2, b"the end of the chatter\n")
    return "it printed"


def _writes(path: str) -> str:
    try:
        Path(path).write_text("outside")
    except OSError as error:
        return f"could not write: {error.strerror}"
    return "it was written"


def _answers_itself() -> None:
    """Guesses the pipe and writes what looks like an answer."""
    for number in range(3, 20):
        try:
            os.write(number, b"\xff" * 64)
        except OSError:
            continue


def _starts_another() -> str:
    return f"started {subprocess.Popen(['sleep', '600']).pid} beside {os.getpid()}"


DEEDS: dict[str, Callable[[], str | None]] = {
    "KILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "CRASH": lambda: ctypes.string_at(0).decode(),
    "EXIT": lambda: os._exit(0),
    "HANG": _forever,
    "SPIN": _in_c,
    "EAT": _eats,
    "MISTAKE": _fails_for_memory,
    "TELL": _tells,
    "PRINT": _prints,
    "FORGE": _answers_itself,
    "START": _starts_another,
}


def parse(data: bytes, name: str) -> Extracted:
    words = data.decode().split()
    if words and words[0] == "KEEP":
        return Extracted(text=_keeps(int(words[1])), markdown=False)
    if words and words[0] == "WAIT":
        time.sleep(float(words[1]))
        return plain_text.parse(data, name)
    if words and words[0] == "WRITE":
        return Extracted(text=_writes(words[1]), markdown=False)
    if words and words[0] in DEEDS:
        return Extracted(text=DEEDS[words[0]]() or "nothing happened", markdown=False)
    return plain_text.parse(data, name)


files.PARSERS[FileKind.TEXT] = parse

if __name__ == "__main__":
    child.main()
