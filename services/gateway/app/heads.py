"""No request's head is read beyond a limit, and none is waited for without end: the server itself has neither."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from services.gateway.app.limits import FLOWING_BYTES
from services.gateway.app.safe_headers import DEFAULTS
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import PROBLEM_TYPE, problem_of

HEAD_MAX_BYTES = 64 * 1024
"""Address and headers of one request; what h11 and most proxies take at most."""

LINGER_S = 1.0
"""How long the rest of a refused head is taken in: a line that is closed before would lose the answer too."""

_TOO_LARGE = f"Address and headers may have {HEAD_MAX_BYTES} bytes; put a long question into the body."
_UNREADABLE = "This is no HTTP request that can be read; see RFC 9112 for their form."


def how_served(timeout_s: float) -> dict[str, Any]:
    """Uvicorn's settings for the gateway, with ``timeout_s`` for each head."""
    return {
        "http": limited_heads(timeout_s),
        # It would believe a header of any name that the client invents; app/addresses.py reads it instead.
        "proxy_headers": False,
        "server_header": False,
        "access_log": False,
        "log_config": None,
    }


def limited_heads(timeout_s: float) -> type[asyncio.Protocol]:
    """The server's protocol with ``timeout_s`` for each head."""

    class Protocol(LimitedHeads):
        head_timeout_s = timeout_s

    return Protocol


class LimitedHeads(HttpToolsProtocol):
    """Answers 431 to a head that is too large, 400 to what is none, and closes a connection whose next one does not
    come."""

    head_timeout_s: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._open = False
        self._bytes = 0
        self._too_large = False
        self._due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._too_large:
            return
        # After an answer comes the next head, or what is left of a body that was refused, which has to flow.
        if not self._answering and not self._open and (self._due is None or len(data) >= FLOWING_BYTES):
            self._stop_waiting()
            self._await_head()
        super().data_received(data)
        if self._open:
            self._bytes += len(data)
            if self._bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
                self._too_large = True
                self.send_400_response("")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._open = True
        self._bytes = 0

    def on_headers_complete(self) -> None:
        self._open = False
        self._stop_waiting()
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEAD_MAX_BYTES:
            self._too_large = True
            raise ValueError("head too large")  # which the parser's owner answers with send_400_response
        if [name for name, _ in self.headers].count(b"host") > 1:
            raise ValueError("two hosts")  # of which a proxy may have read the other
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if not self._too_large:
            self.transport.write(_refusal(HTTPStatus.BAD_REQUEST, _UNREADABLE))
            self.transport.close()
            return
        self.transport.write(_refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _TOO_LARGE))
        self.transport.write_eof()
        self._stop_waiting()
        self._due = self.loop.call_later(LINGER_S, self.transport.close)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._due = self.loop.call_later(self.head_timeout_s, self._late)

    def _stop_waiting(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _late(self) -> None:
        self._due = None
        if not self._answering and not self.transport.is_closing():
            self.transport.close()


def _refusal(status: HTTPStatus, detail: str) -> bytes:
    """The whole answer to what never becomes a request of the application."""
    problem = problem_of(RagstoneError(ErrorCode.INVALID_REQUEST, detail)).model_copy(update={"status": status.value})
    body = problem.model_dump_json().encode()
    headers = {
        **DEFAULTS, "Content-Type": PROBLEM_TYPE, "Content-Length": str(len(body)), "Connection": "close",
    }  # fmt: skip
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body
