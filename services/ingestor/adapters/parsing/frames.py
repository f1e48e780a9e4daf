"""What goes over the pipes between a worker and the process that reads its files.

A frame is two lengths, a JSON object and plain bytes: the document's there, the extracted text back. Nothing that a
pipe brings is ever executed or looked up by name.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, BinaryIO

from services.ingestor.domain.documents import Extracted, Incoming
from services.shared.contracts.ids import DocumentId
from services.shared.contracts.places import Place

Header = dict[str, Any]

LENGTHS = struct.Struct(">II")
HEADER_MAX = 100_000_000
"""Places of a long sheet are the longest part of a header."""

_KEPT_ASIDE = {"text", "places"}


class Garbled(Exception):
    """The pipe holds something else than a frame."""


def head(header: Header, body_bytes: int) -> bytes:
    """What stands before the body."""
    encoded = json.dumps(header).encode("ascii")
    return LENGTHS.pack(len(encoded), body_bytes) + encoded


def read(stream: BinaryIO) -> tuple[Header, bytes] | None:
    """The next frame; None at the end of the stream, or when it breaks off."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header_bytes, body_bytes = LENGTHS.unpack(lengths)
    header, body = stream.read(header_bytes), stream.read(body_bytes)
    return (json.loads(header), body) if len(body) == body_bytes else None


class Arriving:
    """A frame that comes in pieces. Raises Garbled as soon as it cannot be one."""

    def __init__(self, longest_body: int) -> None:
        self._longest = longest_body
        self._got = bytearray()
        self._header_end = 0
        self._end = 0

    def take(self, piece: bytes) -> bool:
        """Is the frame whole?"""
        self._got += piece
        if not self._end and len(self._got) >= LENGTHS.size:
            header_bytes, body_bytes = LENGTHS.unpack_from(self._got)
            if header_bytes > HEADER_MAX or body_bytes > self._longest:
                raise Garbled
            self._header_end = LENGTHS.size + header_bytes
            self._end = self._header_end + body_bytes
        if self._end and len(self._got) > self._end:
            raise Garbled
        return bool(self._end) and len(self._got) == self._end

    def whole(self) -> tuple[Header, str]:
        """The header and the body as text."""
        with memoryview(self._got) as got:
            try:
                header = json.loads(bytes(got[LENGTHS.size : self._header_end]))
                body = str(got[self._header_end :], "utf-8", "surrogatepass")
            except ValueError as error:
                raise Garbled from error
        if not isinstance(header, dict):
            raise Garbled
        return header, body


def from_incoming(incoming: Incoming) -> Header:
    """What a parser may know of a document beside its bytes."""
    return {
        "document_id": incoming.document_id,
        "filename": incoming.filename,
        "media_type": incoming.media_type,
    }


def to_incoming(header: Mapping[str, Any], size_bytes: int) -> Incoming:
    """The same on the other side; what its sender said else stays with the worker."""
    return Incoming(
        document_id=DocumentId(header["document_id"]),
        blob_sha256="",
        filename=header["filename"],
        media_type=header["media_type"],
        size_bytes=size_bytes,
        title=None,
        type=None,
        tags=None,
        source=None,
        metadata={},
        origin=None,
    )


def from_extracted(extracted: Extracted) -> Header:
    """Everything but the text."""
    plain = {one.name: getattr(extracted, one.name) for one in fields(Extracted) if one.name not in _KEPT_ASIDE}
    return {**plain, "places": [(place.start, place.label) for place in extracted.places]}


def to_extracted(header: Mapping[str, Any], text: str) -> Extracted:
    """Raises Garbled when it is none. A reader of a later release may say more: that is left out."""
    known = {one.name: header[one.name] for one in fields(Extracted) if one.name in header}
    try:
        places = [Place(start=start, label=label) for start, label in header["places"]]
        negatives = [(int(start), int(end)) for start, end in header["negatives"]]
        return Extracted(**{**known, "text": text, "places": places, "negatives": negatives})
    except (KeyError, TypeError, ValueError) as error:
        raise Garbled from error
