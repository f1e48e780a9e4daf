"""Names of things, and how the ids that follow from content are made."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NewType

SpaceId = NewType("SpaceId", str)
DocumentId = NewType("DocumentId", str)
VersionId = NewType("VersionId", str)
ChunkId = NewType("ChunkId", str)
JobId = NewType("JobId", str)
IndexId = NewType("IndexId", str)

DEFAULT_SPACE = SpaceId("main")

PIPELINE_VERSION = "2"
"""Rises whenever the same bytes would be parsed or cut differently; it is part of every version id."""


def version_id(
    document_id: DocumentId,
    blob_sha256: str,
    described: Mapping[str, str | Sequence[str] | Mapping[str, object] | None],
) -> VersionId:
    """Id of an immutable document version: the bytes, what the sender said of them, the pipeline.

    ``described`` holds the sender's title, type, tags, source and metadata: a changed tag is a new
    version although the bytes are the same. 32 hex digits (128 bits) of SHA-256.
    """
    canonical = json.dumps([PIPELINE_VERSION, document_id, blob_sha256, described], sort_keys=True, ensure_ascii=False)
    return VersionId(hashlib.sha256(canonical.encode()).hexdigest()[:32])


def chunk_id(version: VersionId, ordinal: int) -> ChunkId:
    """Id of the ``ordinal``-th chunk (from 0) of a version; the same in the catalog, Chroma and BM25."""
    return ChunkId(f"{version}-{ordinal:05d}")
