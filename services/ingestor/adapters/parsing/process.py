"""A worker's end of the pipes to one process that reads files."""

import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from services.ingestor.adapters.parsing import frames
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

PIECE = 1 << 20
SAID_BYTES = 2_000
"""So much of the end of what a library printed is kept."""

START_S = 60.0
LOOK_S = 0.1
"""Between two looks at the memory of a process that reads."""

_PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
"""Of the worker's environment. Keys and passwords are none of a parser's business."""

_CHILD_ONLY = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""One document at a time needs one thread, and each further heap of the allocator reserves address space."""


class ChildDied(Exception):
    """The process ended, or answered nonsense and was ended, before it had answered.

    ``by`` is the signal, if any; ``peak_bytes`` is the most memory that it was seen to use, 0 where that is not told.
    """

    def __init__(self, by: signal.Signals | None, peak_bytes: int = 0) -> None:
        super().__init__(by.name if by else "without a signal")
        self.by = by
        self.peak_bytes = peak_bytes


class TooSlow(Exception):
    """There was no answer in time."""


class ChildProcess:
    """One running process. Not to be shared between threads or over a fork."""

    def __init__(self, command: Sequence[str]) -> None:
        """Raises OSError when it cannot be started, ChildDied or TooSlow when it does not get ready."""
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        # A session of its own keeps the terminal's Ctrl-C away, and lets it be ended with what it may have started.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, **_CHILD_ONLY},
            start_new_session=True,
            bufsize=0,
        )
        self._pipes: list[IO[bytes]] = [
            pipe for pipe in (self._process.stdin, self._process.stdout, self._process.stderr) if pipe
        ]
        self._asked, self._answers, self._prints = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._said = b""
        self._peak_bytes = 0
        self.documents = 0
        self.in_step = True
        """False from a question on until its whole answer is here: whatever interrupts that leaves a useless child."""
        try:
            self._exchange([], START_S, 0)
        except BaseException:
            log.warning("parser_not_ready", said=self.said)
            self.end()
            raise

    @property
    def usable(self) -> bool:
        """Is it alive, with nothing of an earlier document in its pipes?"""
        return self.in_step and self._process.poll() is None

    @property
    def said(self) -> str:
        """The end of what was printed since this was last asked for."""
        said, self._said = self._said, b""
        return said.decode("utf-8", "replace").strip()

    def ask(self, header: frames.Header, data: bytes, limit_s: float, longest: int) -> tuple[frames.Header, str]:
        """The answer to one document; at most ``longest`` bytes of text. Raises ChildDied or TooSlow."""
        self.documents += 1
        return self._exchange([memoryview(frames.head(header, len(data))), memoryview(data)], limit_s, longest)

    def end(self) -> None:
        """Kill it, with all that it started."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Close the pipes only: after a fork the process belongs to somebody else."""
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        if self._process.returncode is None:
            self._process.returncode = 0

    def _exchange(self, out: list[memoryview], limit_s: float, longest: int) -> tuple[frames.Header, str]:
        self.in_step = False
        self._peak_bytes = 0
        until = time.monotonic() + limit_s
        arriving = frames.Arriving(longest)
        with selectors.PollSelector() as waiting:
            waiting.register(self._answers, selectors.EVENT_READ)
            waiting.register(self._prints, selectors.EVENT_READ)
            if self._write(out):
                waiting.register(self._asked, selectors.EVENT_WRITE)
            while True:
                left = until - time.monotonic()
                if left <= 0:
                    raise TooSlow
                ready = {key.fd for key, _ in waiting.select(min(left, LOOK_S))}
                self._look()
                if self._prints in ready and not self._listen():
                    waiting.unregister(self._prints)
                if self._asked in ready and not self._write(out):
                    waiting.unregister(self._asked)
                if self._answers in ready and self._took(arriving):
                    break
        self._listen()
        try:
            header, text = arriving.whole()
        except frames.Garbled as error:
            raise ChildDied(None) from error
        self.in_step = True
        return header, text

    def _write(self, out: list[memoryview]) -> bool:
        """Write what the pipe takes; True while something is left."""
        try:
            while out:
                written = os.write(self._asked, out[0][:PIECE])
                out[0] = out[0][written:]
                if not out[0]:
                    del out[0]
        except BlockingIOError:
            pass
        except BrokenPipeError as error:
            raise self._died() from error
        return bool(out)

    def _took(self, arriving: frames.Arriving) -> bool:
        """Read what is there; True when the answer is whole."""
        try:
            piece = os.read(self._answers, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            raise self._died()
        try:
            return arriving.take(piece)
        except frames.Garbled as error:
            raise ChildDied(None) from error

    def _listen(self) -> bool:
        """Keep the end of what was printed; False when nothing more will come."""
        try:
            piece = os.read(self._prints, PIECE)
        except BlockingIOError:
            return True
        self._said = (self._said + piece)[-SAID_BYTES:]
        return bool(piece)

    def _died(self) -> ChildDied:
        """How it ended, which is told a moment after its pipes are closed."""
        self._listen()
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return ChildDied(None)
        return ChildDied(signal.Signals(-code) if code < 0 else None, self._peak_bytes)

    def _look(self) -> None:
        """How much memory it has in use now. What the kernel tells at its end counts this process's memory too."""
        try:
            with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as told:
                self._peak_bytes = max(self._peak_bytes, int(told.read().split()[1]) * resource.getpagesize())
        except (OSError, IndexError, ValueError):
            return
