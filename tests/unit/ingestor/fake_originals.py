"""Original bytes in memory."""

import hashlib
from collections.abc import Iterator


class FakeOriginals:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        sha = hashlib.sha256(data).hexdigest()
        self.blobs[sha] = data
        return sha

    def read(self, sha256: str) -> bytes:
        return self.blobs[sha256]

    def lines(self, sha256: str) -> Iterator[bytes]:
        yield from self.blobs[sha256].splitlines(keepends=True)

    def keep(self, data: bytes) -> None:
        self.put(data)

    def holds(self, sha256: str) -> bool:
        return sha256 in self.blobs
