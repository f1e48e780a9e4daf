"""What the process that reads files may use up, and how it binds itself to that.

Linux knows all of these limits; where a system lacks one, the parent's time limit and the others remain.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from services.ingestor.adapters.archives import ArchiveLimits

OPEN_FILES = 64
GRACE_S = 10
"""Longer than the parent's time limit: only a process whose parent is gone ends itself."""

_PR_SET_PDEATHSIG = 1
_FORGET_PEAK = "5"


@dataclass(frozen=True)
class ParseLimits:
    """Limits of one document, and how long one process is kept."""

    document_bytes: int = 20_000_000
    text_bytes: int = 50_000_000
    seconds: float = 30.0
    memory_bytes: int = 1_000_000_000
    documents: int = 5_000
    archives: ArchiveLimits = field(default_factory=ArchiveLimits)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ParseLimits":
        said = json.loads(text)
        return cls(**{**said, "archives": ArchiveLimits(**said["archives"])})


def end_with_parent(parent: int) -> None:
    """Die with the parent's thread that started this process, also when it is killed; leave if it is gone already.

    Elsewhere than on Linux the end of its pipe and ``end_in`` do the same a little later.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def end_in(seconds: float) -> None:
    """Let the kernel end this process after that long, whatever code it is in; 0 takes it back."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def go_first() -> None:
    """Where memory runs out the system ends this process, and not the worker or a database."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as told:
        told.write("1000")


def confine() -> None:
    """No file can be written, none be left behind by a crash, few be open."""
    sys.dont_write_bytecode = True
    for name, most in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, OPEN_FILES)):
        with suppress(OSError, ValueError):
            resource.setrlimit(name, (most, most))


class Memory:
    """The memory of this process: each document may take as much above what is in use when it begins.

    Libraries that stay loaded and what a document leaves behind count up to as much again. What is limited is address
    space, which is what the kernel can refuse; most of it is used.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._base = _address_space()
        self._most = self._base + 2 * limit_bytes
        self._used_before = 0

    def limit(self) -> None:
        """The next document begins."""
        if self._base:
            self._allow(min(_address_space() + self._limit, self._most))
            with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as peak:
                peak.write(_FORGET_PEAK)
            self._used_before = _told("VmRSS")

    def lift(self) -> None:
        """Room for saying that there was too little."""
        if self._base:
            self._allow(self._most)

    @property
    def grown(self) -> int:
        """Bytes above the beginning; 0 where the system does not tell."""
        return max(0, _address_space() - self._base)

    def near(self) -> int:
        """What the document took at most, if that is near its limit, else 0: many a library that is refused memory
        gives another reason for its failure."""
        taken = _told("VmHWM") - self._used_before
        return taken if self._base and taken > self._limit // 2 else 0

    def _allow(self, size: int) -> None:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (size, self._most))


def _address_space() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _told(what: str) -> int:
    """Bytes that the kernel names in this process's status."""
    try:
        with open("/proc/self/status", encoding="ascii") as told:
            return next((int(line.split()[1]) * 1024 for line in told if line.startswith(what)), 0)
    except OSError:
        return 0
