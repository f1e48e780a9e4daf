"""``python -m services.ingestor.adapters.parsing.child PARENT LIMITS``: reads one document after the other.

Documents come by standard input and texts go back by standard output, which no library gets to see.
"""

import os
import signal
import sys
from typing import BinaryIO

from services.ingestor.adapters.archives import one_document
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.adapters.parsing import frames
from services.ingestor.adapters.parsing.limits import (
    GRACE_S,
    Memory,
    ParseLimits,
    confine,
    end_in,
    end_with_parent,
    go_first,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.settings import LogSettings

log = get_logger(__name__)


def main() -> None:
    """Read until the parent closes the pipe, or is gone."""
    limits = ParseLimits.from_json(sys.argv[2])
    asked, answers = _pipes()
    # Ctrl-C is the worker's to understand; it ends this process when it has no more use for it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(int(sys.argv[1]))
    configure_logs("parser", LogSettings(log_level="WARNING"))
    parsers = FileParsers(limits.document_bytes, MemoryError)
    go_first()
    confine()
    memory = Memory(limits.memory_bytes)
    _send(answers, {"ready": True}, b"")
    while (frame := frames.read(asked)) is not None:
        header, data = frame
        end_in(limits.seconds + GRACE_S)
        memory.limit()
        try:
            reply, text = _read(parsers, header, data, limits)
        except MemoryError:
            memory.lift()
            reply, text = {"memory": True}, b""
        if reply.get("code") == ErrorCode.UNREADABLE_DOCUMENT and (taken := memory.near()):
            limit = f"RAGSTONE_PARSE_MEMORY_BYTES allows {limits.memory_bytes:,}"
            reply["detail"] += f"; reading it took {taken:,} bytes of memory, and {limit}"
        memory.lift()
        del frame, data
        _send(answers, {**reply, "grown": memory.grown}, text)
        del reply, text
        end_in(0)


def _read(parsers: FileParsers, header: frames.Header, data: bytes, limits: ParseLimits) -> tuple[frames.Header, bytes]:
    """What is sent back: the text and all about it, or why there is none."""
    incoming = frames.to_incoming(header, len(data))
    try:
        with one_document(limits.archives):
            extracted = parsers.parse(incoming, data)
        text = extracted.text.encode("utf-8", "surrogatepass")
        if len(text) > limits.text_bytes:
            detail = (
                f"{incoming.name} holds {len(text):,} bytes of text and the limit is {limits.text_bytes:,}; split it, "
                "or raise RAGSTONE_MAX_TEXT_BYTES"
            )
            raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
    except MemoryError:
        raise
    except RagstoneError as error:
        return {"code": error.code.value, "detail": error.detail}, b""
    # A fault of ours, not of a library; the next document has nothing to do with it.
    except Exception as error:
        log.exception("reading_failed")
        why = f"{type(error).__name__}: {str(error)[:200]}"
        detail = f"{incoming.name} cannot be read: {why}; a worker with RAGSTONE_LOG_LEVEL=DEBUG logs more of it"
        return {"code": ErrorCode.INTERNAL.value, "detail": detail}, b""
    return {"extracted": frames.from_extracted(extracted)}, text


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for ourselves; what libraries read is empty, and what they print is logged."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return asked, answers


def _send(answers: BinaryIO, header: frames.Header, body: bytes) -> None:
    answers.write(frames.head(header, len(body)))
    answers.write(body)
    answers.flush()


if __name__ == "__main__":
    main()
