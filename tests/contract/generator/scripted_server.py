"""A real HTTP server whose answers are a script: for all that a model server does not do on demand."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar


class ScriptedServer:
    """``script`` holds what a stream plays: events, raw bytes, seconds to wait, or "close" to break off.

    It keeps what it was asked; ``left`` is set when a client goes before the script is over, and ``left_at`` holds
    when each did, by the loop's clock.
    """

    content_type = "application/octet-stream"

    def __init__(self) -> None:
        self.script: list[dict[str, Any] | bytes | float | str] = []
        self.asked: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.left_at: list[float] = []
        self.url = ""

    async def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any] | None:
        """A status with a JSON body (or bytes), or None to play the script."""
        raise NotImplementedError

    def steps(self, body: dict[str, Any]) -> list[dict[str, Any] | bytes | float | str]:
        """What is played for a request: the script, unless the server knows better."""
        return self.script

    def framed(self, event: dict[str, Any]) -> bytes:
        """An event of the script as it stands in the stream."""
        raise NotImplementedError

    async def is_asked(self, times: int = 1) -> None:
        """Returns when so many questions have come in; fails after five seconds."""
        async with asyncio.timeout(5):
            while len(self.asked) < times:
                await asyncio.sleep(0.01)

    async def is_left(self, times: int = 1) -> None:
        """Returns when so many clients have gone; fails after five seconds."""
        async with asyncio.timeout(5):
            while len(self.left_at) < times:
                await asyncio.sleep(0.01)

    def _leave(self) -> None:
        self.left_at.append(asyncio.get_running_loop().time())
        self.left.set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
            whole = await self.answer(first.split(" ")[1], body, headers)
            if whole:
                self._whole(writer, *whole)
            else:
                await self._play(self.steps(body), reader, writer)
        except asyncio.IncompleteReadError:
            return  # a connection that was opened or kept, and not used
        except ConnectionError:
            self._leave()
        finally:
            writer.close()

    async def _play(
        self,
        steps: list[dict[str, Any] | bytes | float | str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        gone = asyncio.create_task(reader.read())
        try:
            for step in steps:
                if step == "close":
                    return
                if isinstance(step, float):
                    await asyncio.wait([gone], timeout=step)
                elif not isinstance(step, str):
                    sent = step if isinstance(step, bytes) else self.framed(step)
                    writer.write(b"%x\r\n%s\r\n" % (len(sent), sent))
                    await writer.drain()
                if gone.done():
                    self._leave()
                    return
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            gone.cancel()

    def _whole(self, writer: asyncio.StreamWriter, status: int, body: Any) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n"
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(content), content))


Server = TypeVar("Server", bound=ScriptedServer)


@asynccontextmanager
async def scripted(server: Server) -> AsyncIterator[Server]:
    """The server on a free port."""
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
