"""Original bytes, wherever they are kept."""

from collections.abc import Iterator

from services.shared.catalog.blob_store import BlobStore


class BlobOriginals:
    """Reads whole files, or line by line so that a large batch is never in memory at once."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def read(self, sha256: str) -> bytes:
        return self._blobs.read(sha256)

    def lines(self, sha256: str) -> Iterator[bytes]:
        with self._blobs.open(sha256) as file:
            yield from file

    def keep(self, data: bytes) -> None:
        self._blobs.put(data)

    def holds(self, sha256: str) -> bool:
        return self._blobs.holds(sha256)
