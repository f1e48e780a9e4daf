"""The story of an upload: look at everything, keep the originals, write the jobs down, ring."""

from collections.abc import Sequence
from typing import BinaryIO

from services.gateway.domain.uploads import NewDocument, SentFile, check_size, planned_files, planned_text
from services.gateway.ports.documents import Accepted, Documents, KeptDocument, Originals
from services.gateway.ports.jobs import Bell
from services.shared.contracts.documents import DocumentDescription, DocumentIn, SubmittedJob, SubmittedJobs
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import Queue


class SubmitFlow:
    """Takes documents in."""

    def __init__(
        self, *, documents: Documents, originals: Originals, bell: Bell, document_max_bytes: int, body_max_bytes: int
    ) -> None:
        self._documents = documents
        self._originals = originals
        self._bell = bell
        self._document_max_bytes = document_max_bytes
        self._body_max_bytes = body_max_bytes

    async def files(
        self,
        space: SpaceId,
        files: Sequence[SentFile],
        manifest: Sequence[DocumentDescription] | None,
        common: DocumentDescription,
        request_id: str,
    ) -> SubmittedJobs:
        """One job a file, all or none. Raises RagstoneError that names the file at fault."""
        return await self._store(space, planned_files(files, manifest, common, self._document_max_bytes), request_id)

    async def text(self, space: SpaceId, sent: DocumentIn, request_id: str) -> SubmittedJobs:
        """One job for a text that was sent as JSON. Raises RagstoneError."""
        return await self._store(space, [planned_text(sent, self._document_max_bytes)], request_id)

    async def batch(self, space: SpaceId, body: BinaryIO, size: int, request_id: str) -> SubmittedJobs:
        """One job for an NDJSON body; its lines succeed or fail each for itself, later."""
        check_size(size, "the NDJSON body", self._body_max_bytes)
        sha256, stored = await self._originals.put(body)
        accepted = await self._documents.submit_batch(space, sha256, stored, request_id)
        await self._keep_again_if_gone(sha256, body)
        return await self._rung([accepted], request_id)

    async def _store(self, space: SpaceId, planned: Sequence[NewDocument], request_id: str) -> SubmittedJobs:
        kept = [KeptDocument(document, *await self._originals.put(document.data)) for document in planned]
        accepted = await self._documents.submit(space, kept, request_id)
        for one in kept:
            await self._keep_again_if_gone(one.sha256, one.document.data)
        return await self._rung(accepted, request_id)

    async def _keep_again_if_gone(self, sha256: str, data: BinaryIO | bytes) -> None:
        """A deletion of the last other document with these bytes may have come between keeping and writing down."""
        if not await self._originals.holds(sha256):
            await self._originals.put(data)

    async def _rung(self, accepted: Sequence[Accepted], request_id: str) -> SubmittedJobs:
        fresh = [one.job_id for one in accepted if one.new]
        if fresh:
            await self._bell.ring(Queue.INGEST, fresh, request_id)
        return SubmittedJobs(
            jobs=[
                SubmittedJob(id=one.job_id, document_id=one.document_id, state=one.state, unchanged=one.unchanged)
                for one in accepted
            ]
        )
