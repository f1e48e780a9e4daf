"""A catalog that changes, and a BM25 index that follows it: what its tests share."""

import hashlib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from services.shared.catalog import documents, indexes
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId
from services.shared.contracts.search import Filters
from services.shared.index import bm25_snapshot
from services.shared.index.analyser import question_tokens
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower

MAIN, OTHER = SpaceId("main"), SpaceId("../other")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def publish(catalog: Catalog, id: str, *texts: str, space: SpaceId = MAIN, type: str | None = None) -> None:
    content = "\n".join(texts)
    draft = Draft(
        document_id=DocumentId(id),
        blob_sha256=hashlib.sha256(content.encode()).hexdigest(),
        filename=None,
        media_type="text/plain",
        size_bytes=len(content),
        title=None,
        type=type,
        tags=None,
        source=None,
        metadata={},
        origin=None,
    )
    chunks = [NewChunk(n, text, 0, 0, len(text), "", "fact", text) for n, text in enumerate(texts)]
    with catalog.write() as tx:
        revision = documents.submit(tx, space, draft, NOW).revision
        assert revision is not None
        described: dict[str, Any] = {"title": id, "type": type, "tags": [], "source": None, "metadata": {}}
        version = documents.save_version(
            tx, space, draft, **described, language="en", text=content, chunks=chunks, now=NOW
        )
        assert isinstance(documents.publish(tx, space, draft.document_id, version, revision, NOW), Published)


def remove(catalog: Catalog, id: str) -> None:
    with catalog.write() as tx:
        assert documents.remove(tx, MAIN, DocumentId(id), NOW) is not None


def make_index(catalog: Catalog, id: str) -> None:
    with catalog.write() as tx:
        indexes.create(tx, MAIN, id=IndexId(id), embedder=EmbedderSpec("m", "r", 4, "", "", 9), now=NOW)


def leave(catalog: Catalog, folder: Path) -> None:
    """A process that comes, searches, and stops in good order."""
    follower = Bm25Follower(catalog, MAIN, folder)
    follower.current()
    follower.close()


def saved_seq(folder: Path) -> int:
    """What a start would find; 0 when there is nothing."""
    return max((bm25_snapshot.reached(own) or 0 for own in folder.iterdir()), default=0)


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(1000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to pass in 10 s")


def hits(index: BM25Index, question: str, filters: Filters | None = None) -> int:
    return len(index.search(question_tokens(question), 100, filters))


def rebuilds(follower: Bm25Follower, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records each rebuild of the follower."""
    seen: list[int] = []
    rebuilt = follower._rebuilt

    def recorded(tx: Connection, target: int, index_id: str) -> Any:
        seen.append(target)
        return rebuilt(tx, target, index_id)

    monkeypatch.setattr(follower, "_rebuilt", recorded)
    return seen
