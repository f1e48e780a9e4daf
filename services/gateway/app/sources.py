"""A document's text and original as responses that no browser runs as a page of ours."""

from pathlib import Path
from typing import Any

from fastapi.responses import FileResponse, PlainTextResponse, Response

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

_NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


def plain_text(source: Source) -> PlainTextResponse:
    """The extracted text; citations count its code points."""
    return PlainTextResponse(source.text, headers={**_NO_SNIFFING, "Vary": "Accept"})


def original(source: Source, path: Path) -> Response:
    """The original bytes, always as a download and without any rights in the browser."""
    return FileResponse(
        path,
        media_type=source.media_type,
        filename=source.filename or f"{source.version}.md",
        headers={**_NO_SNIFFING, "Content-Security-Policy": "sandbox; default-src 'none'"},
    )
