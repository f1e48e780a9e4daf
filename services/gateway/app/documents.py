"""Doors for documents: send, list, read, forget."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from services.gateway.app import sources, uploads
from services.gateway.app.common import PROBLEMS, Cursor, GatewayOf, Limit, ReadSpace, VisitedSpace, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.documents import DeletionReceipt, Document, DocumentList, SubmittedJobs
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.kit.request_context import request_id

UPLOAD_PATH = "/v1/documents"

router = APIRouter(tags=["documents"], responses=PROBLEMS)

Version = Annotated[VersionId | None, Query(description="A version's id; the live one when left out")]
As = Annotated[Literal["original", "text"], Query(alias="as", description="original bytes, or extracted text")]


@router.post(UPLOAD_PATH, status_code=202, responses=problems(415), openapi_extra={"requestBody": uploads.REQUEST_BODY})
async def send_documents(request: Request, gateway: GatewayOf, space: WriteSpace) -> SubmittedJobs:
    """Take documents in: files, one text as JSON, or many as NDJSON; a job each ingests them."""
    return await uploads.received(request, gateway, space)


@router.get(UPLOAD_PATH)
async def list_documents(
    gateway: GatewayOf,
    space: ReadSpace,
    limit: Limit = 50,
    cursor: Cursor = None,
    type: str | None = None,
    origin: str | None = None,
) -> DocumentList:
    """The documents that answer now, by id."""
    return await gateway.documents.page(space, limit=limit, cursor=cursor, type=type, origin=origin)


# Before the next route, whose id may hold slashes and would take this path for one.
@router.get("/v1/documents/{id:path}/source", response_class=Response, responses=sources.RESPONSES)
async def get_source(
    id: DocumentId,
    gateway: GatewayOf,
    space: VisitedSpace,
    version: Version = None,
    form: As = "text",
) -> Response:
    """A document's extracted text or original; browsers get a page that marks #start-end."""
    source = await gateway.documents.source(space, id, version or None)
    if form == "original":
        return sources.original(source, await gateway.originals.original(source.sha256))
    return sources.plain_text(source)


@router.get("/v1/documents/{id:path}")
async def get_document(id: DocumentId, gateway: GatewayOf, space: ReadSpace) -> Document:
    """One document."""
    return await gateway.documents.one(space, id)


@router.delete("/v1/documents/{id:path}")
async def forget_document(id: DocumentId, gateway: GatewayOf, space: WriteSpace) -> DeletionReceipt:
    """Forget a document; nothing can answer from it any more when this returns."""
    return await gateway.forget.forget(space, id, request_id())
