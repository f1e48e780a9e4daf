"""Reads the three forms of an upload's body."""

from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from services.gateway.app.limits import json_max_bytes
from services.gateway.domain.uploads import SentFile
from services.gateway.wiring.flows import Gateway
from services.shared.contracts.documents import DocumentDescription, DocumentIn, SubmittedJobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.kit.request_context import request_id

MAX_FILES = 1000
_IN_MEMORY_BYTES = 1 << 20
_FIELDS = frozenset({"files", "manifest", "type", "tags"})
_MANIFEST = TypeAdapter(list[DocumentDescription])
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")

_DESCRIPTION_SCHEMA = DocumentDescription.model_json_schema()
REQUEST_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["files"],
                "properties": {
                    "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                    "manifest": {
                        "type": "string",
                        "contentMediaType": "application/json",
                        "contentSchema": {"type": "array", "items": _DESCRIPTION_SCHEMA},
                        "description": "JSON array that describes each file, in file order",
                    },
                    "type": {"type": "string", "description": "Type of all files that the manifest leaves open"},
                    "tags": {"type": "array", "items": {"type": "string"}, "description": "The same for tags"},
                },
            }
        },
        "application/json": {"schema": DocumentIn.model_json_schema()},
        "application/x-ndjson": {
            "schema": {"type": "string", "description": "One document as JSON a line; the whole body is one job"}
        },
    },
}
"""For OpenAPI, which cannot see what ``received`` reads."""


async def received(request: Request, gateway: Gateway, space: SpaceId) -> SubmittedJobs:
    """Read the body by its media type and submit it. Raises RagstoneError."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "multipart/form-data":
        return await _form(request, gateway, space)
    if media_type == "application/json":
        return await _json(request, gateway, space)
    if media_type in NDJSON:
        return await _ndjson(request, gateway, space)
    detail = "Send files as multipart/form-data, one document as application/json, or many as application/x-ndjson."
    raise RagstoneError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, detail)


async def _form(request: Request, gateway: Gateway, space: SpaceId) -> SubmittedJobs:
    async with request.form(max_files=MAX_FILES, max_fields=MAX_FILES, max_part_size=4 * _IN_MEMORY_BYTES) as form:
        unknown = sorted(set(form) - _FIELDS)
        if unknown:
            raise _bad_field(unknown[0][:80], "is not a field of this form; it has files, manifest, type and tags")
        files = [_file(part) for part in form.getlist("files")]
        common = _described({"type": _text(form, "type"), "tags": _tags(form)})
        return await gateway.submit.files(space, files, _manifest(form), common, request_id())


async def _json(request: Request, gateway: Gateway, space: SpaceId) -> SubmittedJobs:
    limit = json_max_bytes(gateway.settings.document_max_bytes)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            detail = f"One document may have {gateway.settings.document_max_bytes} bytes of text; split it."
            raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
    try:
        sent = DocumentIn.model_validate_json(bytes(body))
    except ValidationError as error:
        raise invalid(error) from error
    return await gateway.submit.text(space, sent, request_id())


async def _ndjson(request: Request, gateway: Gateway, space: SpaceId) -> SubmittedJobs:
    with SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as body:
        size = 0
        async for piece in request.stream():
            size += len(piece)
            await run_sync(body.write, piece)
        return await gateway.submit.batch(space, cast(BinaryIO, body), size, request_id())


def _file(part: UploadFile | str) -> SentFile:
    if isinstance(part, str):
        raise _bad_field("files", "holds text without a file name; send files")
    return SentFile(part.filename or "", part.content_type, part.size or 0, part.file)


def _text(form: FormData, field: str) -> str | None:
    value = form.get(field)
    if isinstance(value, UploadFile):
        raise _bad_field(field, "holds a file and should hold text")
    return value or None


def _tags(form: FormData) -> list[str] | None:
    """Repeated fields, or one with commas."""
    if any(isinstance(value, UploadFile) for value in form.getlist("tags")):
        raise _bad_field("tags", "holds a file and should hold text")
    words = [word.strip() for value in form.getlist("tags") for word in str(value).split(",")]
    return [word for word in words if word] or None


def _manifest(form: FormData) -> list[DocumentDescription] | None:
    text = _text(form, "manifest")
    if text is None:
        return None
    try:
        return _MANIFEST.validate_json(text)
    except ValidationError as error:
        raise invalid(error, "manifest") from error


def _described(fields: dict[str, Any]) -> DocumentDescription:
    try:
        return DocumentDescription.model_validate(fields)
    except ValidationError as error:
        raise invalid(error) from error


def _bad_field(field: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.INVALID_REQUEST, f"{field}: {why}.")


def invalid(error: ValidationError, *where: str) -> RequestValidationError:
    """What is wrong with a body that was read here, as FastAPI would say it; ``where`` names the part at fault."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return RequestValidationError([{**fault, "loc": (*where, *fault["loc"])} for fault in faults])
