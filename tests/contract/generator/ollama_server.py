"""A small HTTP server that speaks Ollama's wire format as recorded, by script; it keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

MODEL = "smollm2:135m"


def said(text: str) -> dict[str, Any]:
    """A line of a stream."""
    return {
        "model": MODEL, "created_at": "2026-11-29T20:10:12.567078761Z",
        "message": {"role": "assistant", "content": text}, "done": False,
    }  # fmt: skip


def finished(reason: str = "stop") -> dict[str, Any]:
    """The last line of a stream."""
    counts = {"total_duration": 6210733435, "load_duration": 9678709, "prompt_eval_count": 40,
              "prompt_eval_duration": 1904890000, "eval_count": 8, "eval_duration": 4276504000}  # fmt: skip
    return {**said(""), "done": True, "done_reason": reason, **counts}


class OllamaServer:
    """``script`` holds what /api/chat plays: lines, raw bytes, seconds to wait, or "close" to break off."""

    def __init__(self) -> None:
        self.script: list[dict[str, Any] | bytes | float | str] = []
        self.models = [MODEL]
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.url = ""

    async def is_asked(self) -> None:
        """Returns when a question has come in; fails after five seconds."""
        async with asyncio.timeout(5):
            while not self.asked:
                await asyncio.sleep(0.01)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                (int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0
            )
            body = json.loads(await reader.readexactly(length) or b"{}")
            await self._answer(head.split(" ")[1], body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()

    async def _answer(
        self, path: str, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if body.get("model") not in self.models:
            return self._whole(writer, 404, {"error": f"model '{body.get('model')}' not found"})
        if path == "/api/show":
            return self._whole(
                writer,
                200,
                {"template": "{{ .Prompt }}", "capabilities": ["completion"], "details": {}, "model_info": {}},
            )
        self.asked.append(body)
        if self.status != 200:
            return self._whole(writer, self.status, {"error": "llama runner process has terminated"})
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        gone = asyncio.create_task(reader.read())
        for step in self.script:
            if step == "close":
                return None
            if isinstance(step, float):
                await asyncio.wait([gone], timeout=step)
            elif not isinstance(step, str):
                line = step if isinstance(step, bytes) else json.dumps(step).encode() + b"\n"
                writer.write(b"%x\r\n%s\r\n" % (len(line), line))
                await writer.drain()
            if gone.done():
                self.left.set()
                return None
        gone.cancel()
        writer.write(b"0\r\n\r\n")
        return await writer.drain()

    def _whole(self, writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n"
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(content), content))


@asynccontextmanager
async def serving(handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]) -> AsyncIterator[str]:
    """Serves connections on a free port; gives the address."""
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@asynccontextmanager
async def ollama_server() -> AsyncIterator[OllamaServer]:
    """A running server without a script yet."""
    server = OllamaServer()
    async with serving(server.handle) as url:
        server.url = url
        yield server
