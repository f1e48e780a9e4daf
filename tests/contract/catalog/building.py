"""Small stories that the catalog's tests share: send, save, publish."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from services.shared.catalog import documents, jobs, schema
from services.shared.catalog.documents import Draft, NewChunk, Published, Superseded
from services.shared.contracts.ids import ChunkId, DocumentId, JobId, SpaceId, VersionId, chunk_id
from services.shared.contracts.jobs import JobKind, Queue

T = TypeVar("T")

SPACE = SpaceId("main")
OTHER = SpaceId("other")
NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def sha(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def draft(id: str = "doc", content: str = "one", **described: Any) -> Draft:
    values: dict[str, Any] = {
        "document_id": DocumentId(id),
        "blob_sha256": sha(content),
        "filename": None,
        "media_type": "text/plain",
        "size_bytes": len(content),
        "title": None,
        "type": None,
        "tags": None,
        "source": None,
        "metadata": {},
        "origin": None,
    }
    return Draft(**(values | described))


def pieces(content: str, number: int = 2) -> list[NewChunk]:
    return [
        NewChunk(
            ordinal=n,
            text=f"{content} {n}",
            lead=0,
            start=0,
            end=1,
            section="",
            kind="fact",
            search_text=f"search {content} {n}",
        )
        for n in range(number)
    ]


def save(tx: Connection, sent: Draft, space: SpaceId = SPACE, content: str = "one", number: int = 2) -> VersionId:
    return documents.save_version(
        tx,
        space,
        sent,
        title=sent.title or "Title",
        type=sent.type,
        tags=sent.tags or [],
        source=sent.source,
        metadata=sent.metadata,
        language="en",
        text=f"text of {content}",
        chunks=pieces(content, number),
        now=NOW,
    )


def submit(tx: Connection, sent: Draft, space: SpaceId = SPACE) -> int:
    revision = documents.submit(tx, space, sent, NOW).revision
    assert revision is not None
    return revision


def publish(tx: Connection, sent: Draft, revision: int, space: SpaceId = SPACE) -> Published | Superseded:
    return documents.publish(tx, space, sent.document_id, sent.version_id, revision, NOW)


def ingest(
    tx: Connection, id: str = "doc", content: str = "one", *, space: SpaceId = SPACE, number: int = 2, **described: Any
) -> Draft:
    """The whole story of a document in one transaction."""
    sent = draft(id, content, **described)
    revision = submit(tx, sent, space)
    save(tx, sent, space, content, number)
    assert isinstance(publish(tx, sent, revision, space), Published)
    return sent


def chunk_ids(sent: Draft, number: int = 2) -> list[ChunkId]:
    return [chunk_id(sent.version_id, n) for n in range(number)]


def stored_chunk_ids(tx: Connection, sent: Draft) -> list[ChunkId]:
    """Chunks of a version that the catalog holds, live or not."""
    c = schema.chunks.c
    rows = tx.execute(select(c.id).where(c.space_id == SPACE, c.version_id == sent.version_id).order_by(c.ordinal))
    return list(rows.scalars())


class OnPurpose(Exception):
    """The failure in the middle of a transaction."""


def break_off() -> None:
    raise OnPurpose


def make_job(
    tx: Connection,
    id: str = "job",
    *,
    space: SpaceId = SPACE,
    sent: Draft | None = None,
    revision: int | None = None,
    kind: JobKind = JobKind.DOCUMENT,
    queue: Queue = Queue.INGEST,
    now: datetime = NOW,
) -> jobs.JobRow:
    return jobs.create(
        tx,
        id=JobId(id),
        space=space,
        kind=kind,
        queue=queue,
        document_id=sent.document_id if sent else None,
        revision=revision,
        payload=sent.payload() if sent else {},
        request_id="request",
        now=now,
    )


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Runs every call in its own thread, all released at the same moment."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        gate.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
