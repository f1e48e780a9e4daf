"""Refusals of the OpenAI-compatible door in the form that its clients read, whoever refused."""

import json
import re
from typing import Any

from fastapi.sse import format_sse_event
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.contracts.openai_chat import OpenAIError
from services.shared.kit.http_app import PROBLEM_TYPE, problem_of

_CHAT = "/v1/chat/completions"
_MODELS = "/v1/models"
_NAMES = frozenset(
    {
        *("assistants", "audio", "batches", "chat", "completions", "containers", "conversations", "embeddings"),
        *("evals", "files", "fine_tuning", "images", "models", "moderations", "realtime", "responses", "threads"),
        *("uploads", "vector_stores", "videos"),
    }
)
"""What OpenAI's API has below /v1; none of it is a name of ours."""
_UNREAD, _AT_FAULT = 422, 400
"""What is a request at fault for them, and the status that their clients know for it."""
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_PARAM = re.compile(r"((?:messages|n|tool_choice|stream|stream_options|model|filters)\b[\w.]*): ")


class OpenAIProblem(Problem):
    """A problem document that their clients read too."""

    error: OpenAIError


def openai_error(problem: dict[str, Any]) -> OpenAIError:
    """A problem document as OpenAI's clients expect an error."""
    status, detail = problem["status"], problem["detail"]
    usual = "server_error" if status >= 500 else "invalid_request_error"
    named = _PARAM.match(detail)
    return OpenAIError(
        message=detail,
        type=_TYPES.get(status, usual),
        param=named[1] if named else None,
        code=problem["code"],
    )


def stream_error(error: RagstoneError) -> bytes:
    """An error in the middle of a stream, which their clients raise."""
    said = openai_error(problem_of(error).model_dump(mode="json"))
    return format_sse_event(data_str=json.dumps({"error": said.model_dump(mode="json")}))


class OpenAIErrors:
    """Adds to every problem document of the door the ``error`` that OpenAI's clients read.

    It stands around everything else, so that what the middleware refuses, for want of a key or for too many
    requests, has that form too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_theirs(scope["path"]):
            send = _Rewriter(send, scope["path"])
        await self.app(scope, receive, send)


class _Rewriter:
    """Sends on; a problem document is held until it is whole."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if MutableHeaders(scope=message).get("content-type", "").startswith(PROBLEM_TYPE):
                self._start = message
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._both(self._start)
            return
        await self._send(message)

    async def _both(self, start: Message) -> None:
        problem = json.loads(self._body)
        if problem["status"] == _UNREAD:
            problem["status"] = start["status"] = _AT_FAULT
        if problem["code"] == ErrorCode.ROUTE_NOT_FOUND and not _is_there(self._path):
            problem["detail"] = (
                f"There is no {self._path[:200]} here; of OpenAI's API there are {_CHAT} and {_MODELS}, and "
                "/openapi.json lists the rest."
            )
        problem["error"] = openai_error(problem).model_dump(mode="json")
        body = json.dumps(problem, ensure_ascii=False).encode()
        MutableHeaders(scope=start)["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def is_theirs(path: str) -> bool:
    """Is it a path of OpenAI's API, there or not?"""
    _, version, name, *_ = *path.split("/", 3), "", ""
    return version == "v1" and name in _NAMES


def _is_there(path: str) -> bool:
    return path in (_CHAT, _MODELS) or path.startswith(_MODELS + "/")
