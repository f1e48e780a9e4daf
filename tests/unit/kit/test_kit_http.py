"""The front and the caller of every service, joined in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from services.shared.contracts.errors import STATUS, ErrorCode, RagstoneError
from services.shared.contracts.health import Health, PartHealth, Readiness
from services.shared.kit.http_app import service_app
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.metrics import Metrics
from services.shared.kit.request_context import REQUEST_ID_HEADER

ODD = 'a "line" with \u2028, \u2029, \u0085 and \r inside'


@asynccontextmanager
async def no_lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


async def red(_: FastAPI) -> Readiness:
    return Readiness(ready=False, parts={"stove": PartHealth(ready=False, detail="cold; light it")})


def kitchen() -> FastAPI:
    app = service_app(service="kitchen", title="Kitchen", lifespan=no_lifespan, ready=red, metrics=Metrics("kitchen"))

    @app.post("/refuse")
    async def refuse() -> None:
        raise RagstoneError(ErrorCode.BUSY, "The stove is full.", retry_after_s=7)

    @app.post("/break")
    async def break_down() -> None:
        raise ZeroDivisionError

    @app.post("/stream")
    async def stream() -> StreamingResponse:
        async def pieces() -> AsyncIterator[bytes]:
            whole = f"{ODD}\n\nsecond line\nlast".encode()
            for n in range(0, len(whole), 5):
                yield whole[n : n + 5]

        return StreamingResponse(pieces())

    return app


def caller() -> ServiceClient:
    return ServiceClient(
        name="kitchen",
        base_url="http://kitchen",
        unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
        timeout_s=2,
        transport=httpx.ASGITransport(kitchen(), raise_app_exceptions=False),
    )


BODY = Health(status="ok", service="test", version="1")


def test_every_code_has_a_status() -> None:
    assert set(STATUS) == set(ErrorCode)
    assert all(400 <= status < 600 for status in STATUS.values())


async def test_lines_end_at_line_feeds_alone_whatever_unicode_they_hold() -> None:
    assert [line async for line in caller().stream_lines("/stream", BODY)] == [ODD, "second line", "last"]


async def test_an_error_keeps_its_code_words_and_patience_over_the_wire() -> None:
    with pytest.raises(RagstoneError) as caught:
        await caller().post("/refuse", BODY, Health)
    error = caught.value
    assert (error.code, error.detail, error.retry_after_s) == (ErrorCode.BUSY, "The stove is full.", 7)


async def test_a_fault_of_ours_is_a_problem_document_with_the_callers_id() -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(kitchen(), raise_app_exceptions=False), base_url="http://kitchen"
    ) as client:
        got = await client.post("/break", headers={REQUEST_ID_HEADER: "abc-1"})
    assert got.status_code == 500
    assert got.headers["content-type"] == "application/problem+json"
    assert (got.json()["code"], got.json()["request_id"], got.headers[REQUEST_ID_HEADER]) == (
        "internal",
        "abc-1",
        "abc-1",
    )


async def test_a_side_that_cannot_be_reached_is_named() -> None:
    class Dead(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused", request=request)

    client = ServiceClient(
        name="kitchen",
        base_url="http://kitchen",
        unavailable=ErrorCode.GENERATOR_UNAVAILABLE,
        timeout_s=1,
        transport=Dead(),
    )
    with pytest.raises(RagstoneError, match="The kitchen cannot be reached") as caught:
        await client.get("/healthz", Health)
    assert caught.value.code is ErrorCode.GENERATOR_UNAVAILABLE
    assert "http://" not in caught.value.detail


async def test_readiness_names_each_part_and_is_red_until_ready() -> None:
    readiness = await caller().get("/readyz", Readiness, accept=(503,))
    assert readiness.parts["stove"].detail == "cold; light it"
    with pytest.raises(RagstoneError):
        await caller().get("/readyz", Readiness)
