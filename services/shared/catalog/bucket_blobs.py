"""The original bytes of documents in an S3-compatible bucket, each once under its own SHA-256.

An object appears whole or not at all: S3 shows one only when all of it has arrived. Keys and address are those of the
usual AWS variables. Needs the extra ``s3``; nothing of it is imported before the first use.
"""

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from services.shared.contracts.errors import ErrorCode, RagstoneError

PIECE_BYTES = 1 << 20
PART_BYTES = 8 << 20
PARTS = 2
"""What is larger than two parts is sent in parts, two at a time, so that it is never in memory as a whole."""

CONNECT_S = 3.0
TRIES = 3
RETRY_AFTER_S = 5

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MISSING_BUCKET = "there is no such bucket; make it, or correct RAGSTONE_BLOBS_URL"
_REFUSED = (
    "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that this key may list the bucket and get, put and delete "
    "its objects"
)
_AWAY = "check that the server runs and that AWS_ENDPOINT_URL names it (not set: Amazon's own)"
_ELSEWHERE = "set AWS_DEFAULT_REGION to the bucket's region"
_TODO: Mapping[str, str] = {
    "NoSuchBucket": _MISSING_BUCKET,
    "PermanentRedirect": _ELSEWHERE,
    "AuthorizationHeaderMalformed": _ELSEWHERE,
    "301": _ELSEWHERE,
    "SlowDown": "it is too busy; try again",
    "503": "it is too busy; try again",
}


class BucketBlobs:
    """Objects ``prefix/ab/cd/abcd…``. Threads may share it, and so may a process and the children it forks.

    The bucket must not keep versions of its objects: what is deleted would stay in it.
    """

    def __init__(self, url: str, *, timeout_s: float, clock: Callable[[], float] = time.time) -> None:
        parts = urlsplit(url)
        self._url = url
        self._bucket = parts.netloc
        self._prefix = f"{parts.path.strip('/')}/".lstrip("/")
        self._timeout_s = timeout_s
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: tuple[int, Any] | None = None

    def put(self, data: bytes | BinaryIO) -> tuple[str, int]:
        """Keeps the bytes; their SHA-256 and size. Bytes that are there already are written again, which makes them
        young again."""
        if isinstance(data, bytes):
            sha256, size = hashlib.sha256(data).hexdigest(), len(data)
            with self._mapped_errors("written"):
                self._files().pipe_file(self._path(sha256), data)
            return sha256, size
        with self._mapped_errors("written"), TemporaryFile() as arriving:
            sha256, size = _copy(data, arriving)
            arriving.flush()
            arriving.seek(0)
            self._files().put_file(_name_of(arriving), self._path(sha256), chunksize=PART_BYTES, max_concurrency=PARTS)
        return sha256, size

    def open(self, sha256: str) -> BinaryIO:
        """The bytes as an open file, which the caller closes; VERSION_NOT_FOUND when they are gone.

        They are all fetched first, so that a deletion meanwhile does not break the reading off.
        """
        path = self._path(sha256)
        with self._mapped_errors("read", sha256):
            file = TemporaryFile()  # noqa: SIM115 - the caller closes it
            try:
                self._files().get_file(path, _name_of(file), max_concurrency=1)
                file.seek(0)
            except BaseException:
                file.close()
                raise
        return file

    def read(self, sha256: str) -> bytes:
        """All the bytes; VERSION_NOT_FOUND when they are gone."""
        path = self._path(sha256)
        with self._mapped_errors("read", sha256):
            data: bytes = self._files().cat_file(path)
        return data

    def holds(self, sha256: str) -> bool:
        """Are these bytes there?"""
        key = self._key(sha256)
        with self._mapped_errors("read"):
            return self._changed_at(key) is not None

    def file_of(self, sha256: str) -> Path | None:
        """None: no original is a file of this machine. Raises INVALID_REQUEST for anything but 64 hex digits."""
        self._key(sha256)
        return None

    def delete(self, sha256: str) -> None:
        """Removes the bytes; nothing happens when they are not there."""
        key = self._key(sha256)
        with self._mapped_errors("deleted"):
            self._call("delete_object", Key=key)

    def sweep(self, in_use: Callable[[str], bool], older_than_s: float) -> int:
        """Removes objects that nothing uses, and uploads that broke off, when put longer ago; how many.

        The age protects bytes that are put while the catalog does not name them yet. It is told by the bucket's clock.
        """
        before = self._clock() - older_than_s
        removed = 0
        with self._mapped_errors("swept"):
            for found in self._listed("list_objects_v2", "Contents", ContinuationToken="NextContinuationToken"):
                name = found["Key"].rpartition("/")[2]
                if not _SHA256.fullmatch(name) or _moment(found["LastModified"]) >= before or in_use(name):
                    continue
                changed_at = self._changed_at(found["Key"])
                if changed_at is not None and changed_at < before:
                    self._call("delete_object", Key=found["Key"])
                    removed += 1
            pages = {"KeyMarker": "NextKeyMarker", "UploadIdMarker": "NextUploadIdMarker"}
            for found in self._listed("list_multipart_uploads", "Uploads", **pages):
                if _moment(found["Initiated"]) < before:
                    self._call("abort_multipart_upload", Key=found["Key"], UploadId=found["UploadId"])
                    removed += 1
        return removed

    def check(self) -> None:
        """Raises RagstoneError, with what to do, when the bucket cannot be used."""
        with self._mapped_errors("opened"):
            self._call("head_bucket")

    def keeps_versions(self) -> bool:
        """Does the bucket keep what is deleted, as far as its key may ask for that?"""
        try:
            return bool(self._call("get_bucket_versioning").get("Status") == "Enabled")
        except OSError:
            return False

    def _key(self, sha256: str) -> str:
        if not _SHA256.fullmatch(sha256):
            raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{sha256[:80]!r} is not a SHA-256 in lower-case hex")
        return f"{self._prefix}{sha256[:2]}/{sha256[2:4]}/{sha256}"

    def _path(self, sha256: str) -> str:
        return f"{self._bucket}/{self._key(sha256)}"

    def _changed_at(self, key: str) -> float | None:
        """When the object was written last; None when it is not there."""
        try:
            return _moment(self._call("head_object", Key=key)["LastModified"])
        except FileNotFoundError:
            return None

    def _listed(self, method: str, what: str, **pages: str) -> Iterator[Mapping[str, Any]]:
        """Every entry under the prefix; ``pages`` names what goes on where, by where the answer before says so."""
        on: dict[str, str] = {}
        while True:
            answer = self._call(method, Prefix=self._prefix, **on)
            yield from answer.get(what, [])
            if not answer.get("IsTruncated"):
                return
            on = {name: answer[said] for name, said in pages.items()}

    def _call(self, method: str, **words: Any) -> Any:
        return self._files().call_s3(method, Bucket=self._bucket, **words)

    def _files(self) -> Any:
        """fsspec's file system for S3, of this process."""
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), _file_system(self._timeout_s)
            return self._opened[1]

    @contextmanager
    def _mapped_errors(self, done: str, sha256: str | None = None) -> Iterator[None]:
        try:
            yield
        except RagstoneError:
            raise
        # S3's client has a tree of errors of its own beside OSError, which is imported with the first use only.
        except Exception as error:
            code = _code_of(error)
            if sha256 is not None and isinstance(error, FileNotFoundError) and code != "NoSuchBucket":
                raise RagstoneError(
                    ErrorCode.VERSION_NOT_FOUND,
                    f"the original file {sha256} is not in the bucket any more; send the document again",
                ) from error
            detail = f"bucket {self._url} cannot be {done}: {_why(error)}; {_todo(error, code)}"
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, detail, retry_after_s=RETRY_AFTER_S) from error


def _file_system(timeout_s: float) -> Any:
    try:
        from s3fs import S3FileSystem
    except ImportError as error:
        detail = f"RAGSTONE_BLOBS_URL names a bucket, but {error.name} is not installed: pip install 'ragstone[s3]'"
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, detail) from error
    files = S3FileSystem(
        config_kwargs={
            "connect_timeout": min(CONNECT_S, timeout_s),
            "read_timeout": timeout_s,
            "retries": {"mode": "standard", "total_max_attempts": TRIES},
            # The checksums that Amazon's client adds by itself are refused by servers that only speak its language.
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        },
        use_listings_cache=False,
        skip_instance_cache=True,
    )
    # The client below tries again by itself.
    files.retries = 1
    return files


def _copy(source: BinaryIO, out: BinaryIO) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
        out.write(piece)
    return digest.hexdigest(), size


def _name_of(file: BinaryIO) -> str:
    """A name for a file that has none, so that a killed process leaves nothing of it behind."""
    return f"/dev/fd/{file.fileno()}"


def _moment(told: datetime) -> float:
    return told.timestamp()


def _code_of(error: BaseException) -> str:
    """What S3 calls the fault; empty when it said nothing."""
    response = getattr(error, "response", None) or getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _why(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _todo(error: BaseException, code: str) -> str:
    if code in _TODO:
        return _TODO[code]
    if isinstance(error, PermissionError) or type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError"):
        return _REFUSED
    return _MISSING_BUCKET if isinstance(error, FileNotFoundError) else _AWAY
