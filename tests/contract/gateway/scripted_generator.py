"""A generator's socket that plays what no real one does on demand: it waits, breaks off and sends halves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

Move = bytes | float | str
"""Bytes are sent as they are, seconds waited, "wait" waits until the other side leaves, "abort" cuts the line,
"end" ends the answer as HTTP wants it."""


@dataclass
class ScriptedGenerator:
    """Each path has its moves; whoever is connected is counted."""

    moves: dict[str, Sequence[Move]] = field(default_factory=dict)
    url: str = ""
    asked: list[str] = field(default_factory=list)
    connected: int = 0
    left: int = 0
    """How many went away while they were waited for."""

    async def serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        try:
            while path := await self._request(reader):
                self.asked.append(path)
                await self._play(self.moves[path], reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.connected -= 1
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> str:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
        await reader.readexactly(length)
        return lines[0].split()[1]

    async def _play(self, moves: Sequence[Move], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        for move in moves:
            if isinstance(move, bytes):
                writer.write(f"{len(move):x}\r\n".encode() + move + b"\r\n")
                await writer.drain()
            elif isinstance(move, float):
                await asyncio.sleep(move)
            elif move == "wait":
                if not await reader.read(1):
                    self.left += 1
                raise ConnectionError
            elif move == "abort":
                writer.transport.abort()
                raise ConnectionError
            else:
                writer.write(b"0\r\n\r\n")
                await writer.drain()


@contextlib.asynccontextmanager
async def scripted_generator() -> AsyncIterator[ScriptedGenerator]:
    """Listens on a free port until the block ends."""
    generator = ScriptedGenerator()
    server = await asyncio.start_server(generator.serve_one, "127.0.0.1", 0)
    generator.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield generator
    finally:
        server.close()
