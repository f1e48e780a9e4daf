"""How the tests of the sandbox read files with the poisoned reader, and look at its processes."""

import sys
import time
from collections.abc import Callable

import psutil
import pytest

from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.unit.ingestor.fake_documents import incoming

POISONED = (sys.executable, "-m", "tests.contract.ingestor.poisoned_reader")
LIMITS = ParseLimits(seconds=2.0, memory_bytes=200_000_000)


def tells_swedish(text: str) -> str | None:
    return "sv"


def read(parsers: SandboxedParsers, text: str | bytes, name: str = "a.txt") -> str:
    data = text.encode() if isinstance(text, str) else text
    return parsers.parse(incoming("doc", filename=name, media_type="text/plain"), data).text


def refused(parsers: SandboxedParsers, text: str | bytes, name: str = "poison.txt") -> str:
    with pytest.raises(RagstoneError) as caught:
        read(parsers, text, name)
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT
    assert name in caught.value.detail
    return caught.value.detail


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "poisoned_reader" in " ".join(one.cmdline())]


def only_child() -> int:
    (child,) = children()
    return child.pid


def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    give_up = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
