"""Files are read in a process of their own, so that a hostile one takes nothing along but itself."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from services.ingestor.adapters.parsing import frames
from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.process import ChildDied, ChildProcess, TooSlow
from services.ingestor.domain.admission import refuse_too_large
from services.ingestor.domain.documents import Extracted, Incoming
from services.ingestor.ports.content import TakesLong
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.tracing import traced

log = get_logger(__name__)

READER = (sys.executable, "-m", "services.ingestor.adapters.parsing.child")
"""The command that reads files; it is given this process's id and the limits."""

NEARLY_ALL = 0.6
"""Share of the memory allowed for a document above which a reader that died had too little. What is limited is address
space, of which not all is in use."""

HUNGRY = 20_000
"""Bytes of memory for each byte of a file, above which more memory would not help: the heaviest kind takes hundreds."""


class _Mine:
    """What must not be shared over a fork."""

    def __init__(self) -> None:
        self.process_id = os.getpid()
        self.turn = threading.Lock()
        # A child ends with the thread that started it, so this one lives as long as the process.
        self.starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parser-starter")
        self.child: ChildProcess | None = None

    def end(self) -> None:
        if self.child is not None:
            self.child.end()
            self.child = None


class SandboxedParsers:
    """The port ``Parsers``. The reading process starts with the first document and serves many.

    Threads take turns. A forked copy of this process starts a reader of its own. A document is tried once; when its
    reader died of what may have been another's fault, once more in a new one. Languages are told here: the model
    of that is slow to load, and a hostile file cannot hurt it.
    """

    def __init__(
        self, limits: ParseLimits, language_of: Callable[[str], str | None], reader: Sequence[str] = READER
    ) -> None:
        self._limits = limits
        self._language_of = language_of
        self._reader = reader
        self._mine = _Mine()

    @traced("parse")
    def parse(self, incoming: Incoming, data: bytes, within_s: float | None = None) -> Extracted:
        """The text of a document. Raises RagstoneError naming the file, what is wrong and what to do; TakesLong."""
        refuse_too_large(incoming.name, len(data), self._limits.document_bytes)
        mine = self._of_this_process()
        with mine.turn:
            try:
                header, text = self._asked(mine, incoming, data, within_s)
            finally:
                # Whatever passes through here, the end of the task's time among it, leaves no answer behind
                # that the next document could take for its own.
                if mine.child is not None and not mine.child.usable:
                    mine.end()
        extracted = self._understood(incoming, header, text)
        return replace(extracted, language=extracted.language or self._language_of(extracted.text))

    def close(self) -> None:
        """End the reading process; the next document starts another."""
        mine = self._of_this_process()
        with mine.turn:
            mine.end()

    def _of_this_process(self) -> _Mine:
        if self._mine.process_id != os.getpid():
            if self._mine.child is not None:
                self._mine.child.let_go()
            self._mine = _Mine()
        return self._mine

    def _asked(
        self, mine: _Mine, incoming: Incoming, data: bytes, within_s: float | None, *, again: bool = True
    ) -> tuple[frames.Header, str]:
        """The reader's answer."""
        limits = self._limits
        seconds = limits.seconds if within_s is None else min(within_s, limits.seconds)
        child = self._child(mine)
        fresh = child.documents == 0
        try:
            header, text = child.ask(frames.from_incoming(incoming), data, seconds, limits.text_bytes)
        except TooSlow as error:
            log.warning("parser_too_slow", document_id=incoming.document_id, seconds=seconds)
            _tell(incoming, child)
            if seconds < limits.seconds:
                raise TakesLong from error
            why = f"reading it took longer than {limits.seconds:g} seconds and was ended"
            raise _unreadable(incoming, why, "RAGSTONE_PARSE_TIMEOUT_S") from error
        except ChildDied as death:
            log.warning("parser_died", document_id=incoming.document_id, by=str(death), fresh=fresh)
            _tell(incoming, child)
            mine.end()
            # An earlier document may have damaged its memory, and SIGKILL comes from outside: the system was short
            # of memory, or somebody killed it.
            if again and (not fresh or death.by == signal.SIGKILL):
                return self._asked(mine, incoming, data, within_s, again=False)
            raise _deadly(incoming, death, limits.memory_bytes) from death
        _tell(incoming, child)
        grown = header.get("grown")
        worn = "memory" in header or not isinstance(grown, int) or grown > limits.memory_bytes // 2
        if worn or child.documents >= limits.documents:
            mine.end()
        return header, text

    def _child(self, mine: _Mine) -> ChildProcess:
        """The reader that is there, else a new one. Raises BUSY when none can be started."""
        if mine.child is not None and mine.child.usable:
            return mine.child
        mine.end()
        command = [*self._reader, str(mine.process_id), self._limits.to_json()]
        try:
            mine.child = mine.starter.submit(ChildProcess, command).result()
        except (OSError, ChildDied, TooSlow) as error:
            detail = f"the process that reads files cannot be started ({error}); the worker's log says more"
            raise RagstoneError(ErrorCode.BUSY, detail) from error
        return mine.child

    def _understood(self, incoming: Incoming, header: frames.Header, text: str) -> Extracted:
        if "memory" in header:
            raise _too_hungry(incoming, self._limits.memory_bytes)
        try:
            if "code" in header:
                raise RagstoneError(ErrorCode(header["code"]), str(header["detail"]))
            return frames.to_extracted(header["extracted"], text)
        except (frames.Garbled, LookupError, ValueError) as error:
            raise _unreadable(incoming, "its reader gave no sensible answer", None) from error


def _tell(incoming: Incoming, child: ChildProcess) -> None:
    """What libraries print may quote the document, which must not outlive it in a log; so only who debugs sees it."""
    if said := child.said:
        log.debug("parser_said", document_id=incoming.document_id, said=said)


def _deadly(incoming: Incoming, death: ChildDied, memory_bytes: int) -> RagstoneError:
    """What a file did to its reader. Memory is named only where the reader really had used most of it."""
    if death.peak_bytes > NEARLY_ALL * memory_bytes:
        return _too_hungry(incoming, memory_bytes)
    why = f"the program that reads it broke off on this file ({death}); it is damaged or made to break readers"
    return _unreadable(incoming, why, None)


def _too_hungry(incoming: Incoming, memory_bytes: int) -> RagstoneError:
    """A small file that takes that much is not helped by more memory."""
    why = f"reading it takes more than {memory_bytes:,} bytes of memory"
    if incoming.size_bytes * HUNGRY < memory_bytes:
        small = f"{why}; with its {incoming.size_bytes:,} bytes it is damaged or made to break readers"
        return _unreadable(incoming, small, None)
    return _unreadable(incoming, why, "RAGSTONE_PARSE_MEMORY_BYTES")


def _unreadable(incoming: Incoming, why: str, setting: str | None) -> RagstoneError:
    what_to_do = f"split it, or raise {setting}" if setting else "save it anew from the program that made it"
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{incoming.name} cannot be read: {why}; {what_to_do}")
