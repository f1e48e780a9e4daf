"""The original bytes of documents: in a folder, or in a bucket that several machines share. One interface for both."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

from services.shared.catalog.blobs import Blobs
from services.shared.catalog.bucket_blobs import BucketBlobs
from services.shared.kit.settings import StateSettings


class BlobStore(Protocol):
    """Originals by their SHA-256; each is there whole or not at all.

    Raises RagstoneError: CATALOG_UNAVAILABLE with what to do when the store does not do its work, INVALID_REQUEST for
    a name that is no SHA-256.
    """

    def put(self, data: bytes | BinaryIO) -> tuple[str, int]:
        """Keeps the bytes; their SHA-256 and size. Bytes that are there already become young again."""

    def open(self, sha256: str) -> BinaryIO:
        """The bytes as an open file, which the caller closes; VERSION_NOT_FOUND when they are gone."""

    def read(self, sha256: str) -> bytes:
        """All the bytes; VERSION_NOT_FOUND when they are gone."""

    def holds(self, sha256: str) -> bool:
        """Are these bytes there?"""

    def file_of(self, sha256: str) -> Path | None:
        """Where the bytes lie or would lie, if that is a file of this machine."""

    def delete(self, sha256: str) -> None:
        """Removes the bytes; nothing happens when they are not there."""

    def sweep(self, in_use: Callable[[str], bool], older_than_s: float) -> int:
        """Removes what nothing uses, and uploads that broke off, when put longer ago; how many."""

    def check(self) -> None:
        """Raises RagstoneError, with what to do, when originals cannot be kept there."""


def blob_store(settings: StateSettings) -> BlobStore:
    """The store that the settings name. Opens nothing yet, so that it may be made before a fork."""
    if settings.blobs_url:
        return BucketBlobs(settings.blobs_url, timeout_s=settings.blobs_timeout_s)
    return Blobs(settings.blob_dir)
