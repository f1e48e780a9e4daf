"""The catalog's documents for the public routes: taking in, listing, reading, forgetting."""

import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.gateway.ports.documents import Accepted, Forgotten, KeptDocument, Source
from services.shared.catalog import blob_use, documents, jobs, live_versions, spaces
from services.shared.catalog.documents import Draft
from services.shared.catalog.engine import Catalog
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState

SETTLE_S = 2.0
"""Longest wait for a reader that needs the catalog as it was before a deletion."""


class CatalogDocuments:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def submit(self, space: SpaceId, kept: Sequence[KeptDocument], request_id: str) -> list[Accepted]:
        """All documents with their jobs, or none."""

        def write() -> list[Accepted]:
            with self._catalog.write() as tx:
                now = datetime.now(UTC)
                return [_submit(tx, space, _draft(one), request_id, now) for one in kept]

        return await run_sync(write)

    async def submit_batch(self, space: SpaceId, sha256: str, size: int, request_id: str) -> Accepted:
        """One job for the whole body; its documents are met when a worker reads it."""

        def write() -> Accepted:
            with self._catalog.write() as tx:
                now = datetime.now(UTC)
                spaces.make_and_lock(tx, space, now)
                blob_use.claim(tx)
                payload = {"blob_sha256": sha256, "size_bytes": size}
                job = jobs.create(
                    tx,
                    id=_new_job_id(),
                    space=space,
                    kind=JobKind.BATCH,
                    queue=QUEUE_OF[JobKind.BATCH],
                    document_id=None,
                    revision=None,
                    payload=payload,
                    request_id=request_id,
                    now=now,
                )
                return Accepted(job.id, None, job.state, unchanged=False, new=True)

        return await run_sync(write)

    async def remove(
        self, space: SpaceId, document_id: DocumentId, request_id: str, *, coming: bool = False
    ) -> Forgotten:
        """Forget a document, and write down who takes out of the indexes and files what this process may not get to."""

        def write() -> Forgotten:
            with self._catalog.write() as tx:
                now = datetime.now(UTC)
                removed = documents.remove(tx, space, document_id, now, coming=coming)
                if removed is None:
                    raise _no_document(document_id)
                rest = {
                    "version_ids": removed.version_ids,
                    "document_id": document_id,
                    "blobs": removed.blobs_orphaned,
                }
                cleanup = _cleanup(tx, space, document_id, rest, request_id, now)
                # As if it had been rung for: this process does the work now, and is given a moment.
                jobs.rung(tx, [cleanup], now)
                reports = None
                if removed.reports:
                    quoting = {"evaluation_ids": removed.reports}
                    reports = _cleanup(tx, space, document_id, quoting, request_id, now)
                return Forgotten(
                    document_id=document_id,
                    versions=removed.versions,
                    chunks=removed.chunks,
                    orphaned=removed.blobs_orphaned,
                    version_ids=removed.version_ids,
                    cancelled_jobs=removed.cancelled_jobs,
                    cleanup_job=cleanup,
                    reports_job=reports,
                    answers=removed.answers,
                )

        return await run_sync(write)

    async def cleaned(self, job_id: JobId) -> bool:
        """End the clean-up job, unless a worker has it already."""

        def write() -> bool:
            with self._catalog.write() as tx:
                return jobs.settled(tx, job_id, {"at_once": True}, datetime.now(UTC))

        return await run_sync(write)

    async def settle(self) -> bool:
        """Leave nothing of what was deleted in the catalog's log."""
        return await run_sync(self._catalog.settle, SETTLE_S)

    async def all_live(self, space: SpaceId, ids: Collection[DocumentId]) -> bool:
        """Do all of these documents answer now?"""

        def read() -> bool:
            with self._catalog.read() as tx:
                return {one.document_id for one in live_versions.live_of(tx, space, list(ids))} == set(ids)

        return await run_sync(read)

    async def page(
        self, space: SpaceId, *, limit: int, cursor: str | None, type: str | None, origin: str | None
    ) -> DocumentList:
        """Live documents by id."""

        def read() -> DocumentList:
            with self._catalog.read() as tx:
                found, following = documents.list_live(tx, space, limit=limit, cursor=cursor, origin=origin, type=type)
                return DocumentList(items=[one.view() for one in found], next_cursor=following)

        return await run_sync(read)

    async def one(self, space: SpaceId, document_id: DocumentId) -> Document:
        """A live document."""

        def read() -> Document:
            with self._catalog.read() as tx:
                found = documents.get(tx, space, document_id)
            if found is None:
                raise _no_document(document_id)
            return found.view()

        return await run_sync(read)

    async def source(self, space: SpaceId, document_id: DocumentId, version: VersionId | None) -> Source:
        """A version's text; the live one when none is named."""

        def read() -> Source:
            with self._catalog.read() as tx:
                stored = documents.version(tx, space, document_id, version)
                if stored is None and documents.get(tx, space, document_id) is None:
                    raise _no_document(document_id)
            if stored is None:
                detail = (
                    f"Document {document_id[:80]!r} has no version {str(version)[:80]!r}; leave it out for the newest."
                )
                raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, detail)
            return Source(document_id, stored.id, stored.blob_sha256, stored.filename, stored.media_type, stored.text)

        return await run_sync(read)


def _submit(tx: Connection, space: SpaceId, draft: Draft, request_id: str, now: datetime) -> Accepted:
    submitted = documents.submit(tx, space, draft, now)
    if submitted.pending_job is not None:
        pending = jobs.get(tx, space, submitted.pending_job)
        state = JobState.QUEUED if pending is None else pending.state
        return Accepted(submitted.pending_job, draft.document_id, state, unchanged=False, new=False)
    result = None
    if submitted.unchanged:
        live = documents.get(tx, space, draft.document_id)
        result = {"version": submitted.version_id, "chunks": live.chunks if live else 0, "unchanged": True}
    job = jobs.create(
        tx,
        id=_new_job_id(),
        space=space,
        kind=JobKind.DOCUMENT,
        queue=QUEUE_OF[JobKind.DOCUMENT],
        document_id=draft.document_id,
        revision=submitted.revision,
        payload={} if submitted.unchanged else {"draft": draft.payload()},
        request_id=request_id,
        now=now,
        state=JobState.SUCCEEDED if submitted.unchanged else JobState.QUEUED,
        result=result,
    )
    return Accepted(job.id, draft.document_id, job.state, submitted.unchanged, new=not submitted.unchanged)


def _cleanup(
    tx: Connection, space: SpaceId, document_id: DocumentId, payload: dict[str, Any], request_id: str, now: datetime
) -> JobId:
    return jobs.create(
        tx,
        id=_new_job_id(),
        space=space,
        kind=JobKind.CLEANUP,
        queue=QUEUE_OF[JobKind.CLEANUP],
        document_id=document_id,
        revision=None,
        payload=payload,
        request_id=request_id,
        now=now,
    ).id


def _draft(kept: KeptDocument) -> Draft:
    described = kept.document.described
    return Draft(
        document_id=kept.document.id,
        blob_sha256=kept.sha256,
        filename=kept.document.filename,
        media_type=kept.document.media_type,
        size_bytes=kept.size,
        title=described.title,
        type=described.type,
        tags=described.tags,
        source=described.source,
        metadata=described.metadata or {},
        origin=described.origin,
    )


def _new_job_id() -> JobId:
    return JobId(uuid.uuid4().hex)


def _no_document(document_id: DocumentId) -> RagstoneError:
    detail = f"There is no document {document_id[:80]!r} in this space; GET /v1/documents lists those that there are."
    return RagstoneError(ErrorCode.DOCUMENT_NOT_FOUND, detail)
