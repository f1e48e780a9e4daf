"""A document's text and original as responses that no browser runs as a page of ours."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from fastapi.responses import FileResponse, PlainTextResponse, Response, StreamingResponse

from services.gateway.ports.documents import Source

RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The text (a page that shows it, for browsers) or the original",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "text/html": {"schema": {"type": "string"}},
            "*/*": {},
        },
    }
}

PIECE_BYTES = 1 << 18

_NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


def plain_text(source: Source) -> PlainTextResponse:
    """The extracted text; citations count its code points."""
    return PlainTextResponse(source.text, headers={**_NO_SNIFFING, "Vary": "Accept"})


def original(source: Source, kept: Path | BinaryIO) -> Response:
    """The original bytes, always as a download and without any rights in the browser."""
    name = source.filename or f"{source.version}.md"
    headers = {**_NO_SNIFFING, "Content-Security-Policy": "sandbox; default-src 'none'"}
    if isinstance(kept, Path):
        return FileResponse(kept, media_type=source.media_type, filename=name, headers=headers)
    headers |= {
        "Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}",
        "Content-Length": str(os.fstat(kept.fileno()).st_size),
    }
    return StreamingResponse(_pieces(kept), media_type=source.media_type, headers=headers)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE_BYTES):
            yield piece
