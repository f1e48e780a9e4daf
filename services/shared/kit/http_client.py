"""How one service calls another: pooled, with the request's id, and with errors that keep their code."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.replicas import Replicas
from services.shared.kit.request_context import REQUEST_ID_HEADER, request_id
from services.shared.kit.tracing import TRACEPARENT_HEADER, span_apart, traceparent

Answered = TypeVar("Answered", bound=BaseModel)

log = get_logger(__name__)

_ADDRESS = re.compile(r" at (?:[a-z][a-z+]*://|[\w.-]+:\d)[^\s;,()]*[^\s;,().:]")

KEEP_S = 2.0
"""How long an idle connection is used again. The services close theirs after 5 seconds: who kept one as long would now
and then send a request into a connection that is just being closed."""


LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=KEEP_S)


def without_addresses(text: str) -> str:
    """What is wrong and what to do, without where: addresses inside are nothing for whoever only asks."""
    return _ADDRESS.sub("", text)


class ServiceClient:
    """JSON over HTTP to one service, whichever of its replicas has the least to do.

    A problem document from the other side is raised as the same RagstoneError here; a side that cannot be
    reached, times out or talks nonsense is raised as ``unavailable`` with its name and what to do. Addresses go to the
    log alone, since a visitor may read the error. ``signed`` gives
    the headers that say who asks, anew for each request.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        unavailable: ErrorCode,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        signed: Callable[[], Mapping[str, str]] = dict,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._name = name
        self._base_url = base_url
        self._signed = signed
        self._unavailable = unavailable
        self._client = httpx.AsyncClient(
            base_url=base_url,
            headers=headers,
            timeout=httpx.Timeout(timeout_s, connect=2.0),
            transport=transport or Replicas(httpx.AsyncHTTPTransport(limits=LIMITS, trust_env=False)),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the pool."""
        await self._client.aclose()

    async def get(self, path: str, answer: type[Answered], *, accept: tuple[int, ...] = ()) -> Answered:
        """GET a message; statuses in ``accept`` are answers too (a 503 readiness, for example)."""
        return await self._call("GET", path, None, answer, accept)

    async def post(self, path: str, body: BaseModel, answer: type[Answered]) -> Answered:
        """POST a message and read the answer."""
        return await self._call("POST", path, body, answer, ())

    async def get_text(self, path: str) -> str:
        """GET a plain text."""
        return (await self._send("GET", path, None, ())).text

    async def stream_lines(self, path: str, body: BaseModel) -> AsyncIterator[str]:
        """POST a message and yield the non-empty lines of the answer as they arrive.

        Leaving the iteration closes the connection, which tells the other side to stop.
        """
        with self._calling("POST", path) as headers:
            try:
                async with self._client.stream(
                    "POST", path, content=body.model_dump_json(), headers=headers
                ) as response:
                    if response.is_error:
                        await response.aread()
                        raise self._error_of(response)
                    async for line in _lines(response.aiter_bytes()):
                        yield line
            except httpx.HTTPError as error:
                raise self._unreachable(error) from error

    async def _call(
        self, method: str, path: str, body: BaseModel | None, answer: type[Answered], accept: tuple[int, ...]
    ) -> Answered:
        response = await self._send(method, path, body, accept)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            detail = f"The {self._name} answered in a form this version does not know; run the same version everywhere."
            raise RagstoneError(self._unavailable, detail) from error

    async def _send(self, method: str, path: str, body: BaseModel | None, accept: tuple[int, ...]) -> httpx.Response:
        content = None if body is None else body.model_dump_json()
        with self._calling(method, path) as headers:
            try:
                response = await self._client.request(method, path, content=content, headers=headers)
            except httpx.HTTPError as error:
                raise self._unreachable(error) from error
            if response.is_error and response.status_code not in accept:
                raise self._error_of(response)
        return response

    @contextmanager
    def _calling(self, method: str, path: str) -> Iterator[dict[str, str]]:
        """The headers of one call, which is a span of its own where it is part of a trace."""
        headers = {"Content-Type": "application/json", REQUEST_ID_HEADER: request_id(), **self._signed()}
        if traceparent() is None:
            yield headers
            return
        # Without the query, which may hold what somebody asks.
        with span_apart(f"{method} {self._name} {path.partition('?')[0]}", kind="client") as call:
            if call.traceparent is not None:
                headers[TRACEPARENT_HEADER] = call.traceparent
            yield headers

    def _error_of(self, response: httpx.Response) -> RagstoneError:
        try:
            problem = Problem.model_validate_json(response.content)
        except ValidationError:
            detail = f"The {self._name} answered {response.status_code} without saying why; see its log."
            return RagstoneError(self._unavailable, detail)
        detail = without_addresses(problem.detail)
        if detail != problem.detail:
            log.warning("service_failed", service_called=self._name, why=problem.detail)
        retry_after = response.headers.get("Retry-After", "")
        return RagstoneError(problem.code, detail, retry_after_s=int(retry_after) if retry_after.isdigit() else None)

    def _unreachable(self, error: httpx.HTTPError) -> RagstoneError:
        why = "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
        kind = type(error).__name__
        log.warning("service_unreachable", service_called=self._name, address=self._base_url, why=kind)
        detail = f"The {self._name} {why} ({kind}); is it running? See /readyz."
        return RagstoneError(self._unavailable, detail, retry_after_s=5)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Non-empty lines that end in a line feed alone: JSON may hold U+2028 and its like as they are."""
    rest = b""
    async for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line.decode()
    if rest.strip():
        yield rest.decode()
