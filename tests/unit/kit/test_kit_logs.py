"""What the log says of a request, and what it never says."""

import io
import json
import logging
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Literal

import httpx
import pytest
import structlog
from fastapi import FastAPI

from services.shared.contracts.answers import SentenceEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import Readiness
from services.shared.contracts.jobs import Doorbell
from services.shared.kit import http_app, requests_seen
from services.shared.kit.http_app import service_app
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.metrics import Metrics
from services.shared.kit.settings import LogSettings

CANARY = "zqlogcanary"


@pytest.fixture(params=["json", "text"])
def said(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that goes into the log."""
    root = logging.getLogger()
    before = root.handlers[:], root.level, structlog.get_config()
    configure_logs("shop", LogSettings(log_format=request.param))
    # A logger keeps the configuration of its first use, which may be another test's.
    for module in (http_app, requests_seen):
        monkeypatch.setattr(module, "log", get_logger(module.__name__))
    told = io.StringIO()
    for handler in root.handlers:
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(told)
    yield told
    logging.captureWarnings(False)
    root.handlers[:], level, config = before
    root.setLevel(level)
    structlog.configure(**config)


@asynccontextmanager
async def no_lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


async def ready(_: FastAPI) -> Readiness:
    return Readiness(ready=True, parts={})


def shop() -> httpx.AsyncClient:
    app = service_app(service="shop", title="Shop", lifespan=no_lifespan, ready=ready, metrics=Metrics("shop"))

    @app.post("/ask/{how}")
    async def ask(how: Literal["well", "busy", "local", "message", "bell"], body: dict[str, str]) -> str:
        text = body["question"]
        match how:
            case "busy":
                raise RagstoneError(ErrorCode.BUSY, "Full.")
            case "local":
                return str(len(text) // 0)
            case "message":
                SentenceEvent.model_validate({"n": text, "text": [text], "citations": text})
            case "bell":
                Doorbell.model_validate({"job_id": [text]})
        return text

    return httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://shop")


@pytest.mark.parametrize(
    ("how", "status"), [("well", 200), ("busy", 503), ("local", 500), ("message", 500), ("bell", 500)]
)
async def test_neither_body_nor_query_nor_key_nor_locals_are_logged(said: io.StringIO, how: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {CANARY}", "X-Request-ID": "id-1", "Cookie": CANARY}
    async with shop() as client:
        got = await client.post(f"/ask/{how}?q={CANARY}", json={"question": CANARY}, headers=headers)
    assert got.status_code == status
    log = said.getvalue()
    assert CANARY not in log
    assert f"/ask/{how}" in log
    assert str(status) in log
    assert ("Traceback" in log) == (status == 500)


@pytest.mark.parametrize("said", ["json"], indirect=True)
async def test_each_request_is_one_line_that_machines_read(said: io.StringIO) -> None:
    async with shop() as client:
        await client.post("/ask/well", json={"question": "a"}, headers={"X-Request-ID": "id-1"})
        await client.post("/ask/busy", json={"question": "a"}, headers={"X-Request-ID": "id-2"})
        await client.get("/healthz")
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [(line["event"], line["request_id"], line["status"], line.get("code")) for line in lines] == [
        ("request", "id-1", 200, None),
        ("request", "id-2", 503, "busy"),
    ]
    assert all(line["service"] == "shop" and line["ms"] >= 0 and line["method"] == "POST" for line in lines)


@pytest.mark.parametrize("said", ["json"], indirect=True)
def test_libraries_and_warnings_are_json_too(said: io.StringIO) -> None:
    logging.getLogger("some.library").error("broken: %s", "pipe\nof two lines")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("take care", stacklevel=1)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        get_logger("ours").exception("failed", job_id="j1")
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    assert len(lines) == 3
    assert lines[0]["event"] == "broken: pipe\nof two lines"
    assert "take care" in lines[1]["event"]
    assert (lines[2]["job_id"], "ZeroDivisionError" in lines[2]["exception"]) == ("j1", True)
