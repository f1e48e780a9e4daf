"""Documents as their senders described them."""

from typing import Any

from services.ingestor.domain.documents import Incoming
from services.shared.contracts.ids import DocumentId, VersionId, version_id


def incoming(document_id: str, sha256: str = "00", **described: Any) -> Incoming:
    """A Markdown document as its sender described it."""
    values: dict[str, Any] = {
        "document_id": DocumentId(document_id),
        "blob_sha256": sha256,
        "filename": f"{document_id}.md",
        "media_type": "text/markdown",
        "size_bytes": 1,
        "title": None,
        "type": None,
        "tags": None,
        "source": None,
        "metadata": {},
        "origin": None,
    }
    return Incoming(**(values | described))


def version_of(one: Incoming) -> VersionId:
    return version_id(one.document_id, one.blob_sha256, {"title": one.title})
