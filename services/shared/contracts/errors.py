"""One error tree and one closed list of codes; every error leaves a service in this shape."""

from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Response


class ErrorCode(StrEnum):
    """Stable machine-readable names of everything that can go wrong."""

    INVALID_REQUEST = "invalid_request"
    QUESTION_EMPTY = "question_empty"
    QUESTION_TOO_LONG = "question_too_long"
    SPACE_INVALID = "space_invalid"
    DOCUMENT_ID_INVALID = "document_id_invalid"
    DOCUMENT_EMPTY = "document_empty"
    DOCUMENT_NOT_FOUND = "document_not_found"
    VERSION_NOT_FOUND = "version_not_found"
    JOB_NOT_FOUND = "job_not_found"
    JOB_STATE_CONFLICT = "job_state_conflict"
    EVALUATION_NOT_FOUND = "evaluation_not_found"
    GOLDEN_SET_EMPTY = "golden_set_empty"
    GOLDEN_NOT_FOUND = "golden_not_found"
    ANSWER_NOT_FOUND = "answer_not_found"
    FEEDBACK_NOT_FOUND = "feedback_not_found"
    FEEDBACK_STATE_CONFLICT = "feedback_state_conflict"
    INDEX_NOT_FOUND = "index_not_found"
    INDEX_STATE_CONFLICT = "index_state_conflict"
    INDEX_WORSE = "index_worse"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    ORIGIN_NOT_ALLOWED = "origin_not_allowed"
    HOST_NOT_ALLOWED = "host_not_allowed"
    KEY_REQUIRED = "key_required"
    KEY_INVALID = "key_invalid"
    ROLE_INSUFFICIENT = "role_insufficient"
    SPACE_NOT_ALLOWED = "space_not_allowed"
    KEY_NOT_FOUND = "key_not_found"
    RATE_LIMITED = "rate_limited"
    LIMITS_UNAVAILABLE = "limits_unavailable"
    GAP_NOT_FOUND = "gap_not_found"
    GAP_STATE_CONFLICT = "gap_state_conflict"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    BODY_TOO_LARGE = "body_too_large"
    UNREADABLE_DOCUMENT = "unreadable_document"
    PROFILE_INVALID = "profile_invalid"
    BUSY = "busy"
    GATEWAY_UNAVAILABLE = "gateway_unavailable"
    RETRIEVER_UNAVAILABLE = "retriever_unavailable"
    GENERATOR_UNAVAILABLE = "generator_unavailable"
    WRITER_UNAVAILABLE = "writer_unavailable"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    QUEUE_UNAVAILABLE = "queue_unavailable"
    VECTOR_STORE_UNAVAILABLE = "vector_store_unavailable"
    CATALOG_UNAVAILABLE = "catalog_unavailable"
    CATALOG_NEWER = "catalog_newer"
    BACKUP_DAMAGED = "backup_damaged"
    INDEX_INCOMPATIBLE = "index_incompatible"
    MODEL_UNAVAILABLE = "model_unavailable"
    INTERNAL = "internal"


STATUS: dict[ErrorCode, int] = {
    ErrorCode.INVALID_REQUEST: 422,
    ErrorCode.QUESTION_EMPTY: 422,
    ErrorCode.QUESTION_TOO_LONG: 422,
    ErrorCode.SPACE_INVALID: 422,
    ErrorCode.DOCUMENT_ID_INVALID: 422,
    ErrorCode.DOCUMENT_EMPTY: 422,
    ErrorCode.DOCUMENT_NOT_FOUND: 404,
    ErrorCode.VERSION_NOT_FOUND: 404,
    ErrorCode.JOB_NOT_FOUND: 404,
    ErrorCode.JOB_STATE_CONFLICT: 409,
    ErrorCode.EVALUATION_NOT_FOUND: 404,
    ErrorCode.GOLDEN_SET_EMPTY: 422,
    ErrorCode.GOLDEN_NOT_FOUND: 404,
    ErrorCode.ANSWER_NOT_FOUND: 404,
    ErrorCode.FEEDBACK_NOT_FOUND: 404,
    ErrorCode.FEEDBACK_STATE_CONFLICT: 409,
    ErrorCode.INDEX_NOT_FOUND: 404,
    ErrorCode.INDEX_STATE_CONFLICT: 409,
    ErrorCode.INDEX_WORSE: 409,
    ErrorCode.ROUTE_NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.ORIGIN_NOT_ALLOWED: 403,
    ErrorCode.HOST_NOT_ALLOWED: 403,
    ErrorCode.KEY_REQUIRED: 401,
    ErrorCode.KEY_INVALID: 401,
    ErrorCode.ROLE_INSUFFICIENT: 403,
    ErrorCode.SPACE_NOT_ALLOWED: 403,
    ErrorCode.KEY_NOT_FOUND: 404,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.LIMITS_UNAVAILABLE: 503,
    ErrorCode.GAP_NOT_FOUND: 404,
    ErrorCode.GAP_STATE_CONFLICT: 409,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.BODY_TOO_LARGE: 413,
    ErrorCode.UNREADABLE_DOCUMENT: 422,
    ErrorCode.PROFILE_INVALID: 500,
    ErrorCode.BUSY: 503,
    ErrorCode.GATEWAY_UNAVAILABLE: 503,
    ErrorCode.RETRIEVER_UNAVAILABLE: 503,
    ErrorCode.GENERATOR_UNAVAILABLE: 503,
    ErrorCode.WRITER_UNAVAILABLE: 503,
    ErrorCode.JUDGE_UNAVAILABLE: 503,
    ErrorCode.QUEUE_UNAVAILABLE: 503,
    ErrorCode.VECTOR_STORE_UNAVAILABLE: 503,
    ErrorCode.CATALOG_UNAVAILABLE: 503,
    ErrorCode.CATALOG_NEWER: 503,
    ErrorCode.BACKUP_DAMAGED: 422,
    ErrorCode.INDEX_INCOMPATIBLE: 503,
    ErrorCode.MODEL_UNAVAILABLE: 503,
    ErrorCode.INTERNAL: 500,
}
"""HTTP status of each code; a test proves that no code is missing."""


class RagstoneError(Exception):
    """Any failure that Ragstone itself names: which thing, why, and what to do about it.

    ``detail`` is a sentence for a person and is safe to show to a client.
    """

    def __init__(self, code: ErrorCode, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s

    @property
    def status(self) -> int:
        return STATUS[self.code]


class Problem(Response):
    """RFC 9457 problem document."""

    type: str = Field(description="URI reference of the kind of problem")
    title: str = Field(description="The code in words")
    status: int = Field(description="HTTP status")
    detail: str = Field(description="Which thing, why, what to do")
    code: ErrorCode = Field(description="Stable name of the problem")
    request_id: str = Field(description="Finds this request in every service's log")
