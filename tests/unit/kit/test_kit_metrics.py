"""What a service's front counts of its requests, and what it never puts into a label."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import ASGIApp, Receive, Scope, Send

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import Readiness
from services.shared.kit.http_app import add_metrics_door, problem_response, service_app
from services.shared.kit.metrics import Metrics, Vocabulary, among

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(page: bytes) -> Samples:
    """Every series of a page with its value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def requests_of(metrics: Metrics) -> dict[tuple[str, str, str], float]:
    """By route, method and status."""
    return {
        (dict(labels)["route"], dict(labels)["method"], dict(labels)["status"]): value
        for (name, labels), value in samples(metrics.page()).items()
        if name == "ragstone_requests_total"
    }


@asynccontextmanager
async def no_lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


async def ready(_: FastAPI) -> Readiness:
    return Readiness(ready=True, parts={})


class Refusing:
    """Refuses /things/locked before there is a route."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/things/locked":
            await problem_response(RagstoneError(ErrorCode.RATE_LIMITED, "Too many."))(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def shop(metrics: Metrics) -> httpx.AsyncClient:
    """A service with one route behind an included router."""
    app = service_app(service="shop", title="Shop", lifespan=no_lifespan, ready=ready, metrics=metrics)
    router = APIRouter()

    @router.get("/things/{name}")
    async def thing(name: str) -> str:
        if name == "broken":
            raise ZeroDivisionError
        return name

    app.include_router(router)
    add_metrics_door(app, metrics)
    app.add_middleware(Refusing)
    app.user_middleware.append(app.user_middleware.pop(0))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://shop")


async def test_requests_are_counted_by_route_method_and_status() -> None:
    metrics = Metrics("shop")
    async with shop(metrics) as client:
        for path in ("/things/a", "/things/b", "/things/broken", "/things/locked", "/healthz"):
            await client.get(path)
    assert requests_of(metrics) == {
        ("/things/{name}", "GET", "200"): 2,
        ("/things/{name}", "GET", "500"): 1,
        ("/things/{name}", "GET", "429"): 1,
        ("/healthz", "GET", "200"): 1,
    }
    counted = samples(metrics.page())
    assert counted["ragstone_problems_total", (("code", "rate_limited"), ("service", "shop"))] == 1
    assert counted["ragstone_problems_total", (("code", "internal"), ("service", "shop"))] == 1
    assert counted["ragstone_request_seconds_count", (("route", "/things/{name}"), ("service", "shop"))] == 4


async def test_strangers_cannot_make_series() -> None:
    metrics = Metrics("shop")
    async with shop(metrics) as client:
        await client.get("/things/known")
        await client.get("/nothing")
        before = len(samples(metrics.page()))
        for n in range(300):
            await client.get(f"/things/known{n}?question=secret{n}")
            await client.get(f"/nothing/secret{n}", headers={"Authorization": f"Bearer secret{n}"})
        await client.request("SECRETVERB", "/nothing")
        page = metrics.page()
    assert len(samples(page)) <= before + 2
    assert b"secret" not in page.lower()


async def test_the_door_of_an_inner_service_gives_prometheus_its_page() -> None:
    metrics = Metrics("shop")
    async with shop(metrics) as client:
        got = await client.get("/metrics")
    assert got.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert ("process_resident_memory_bytes", ()) in samples(got.content)


def test_each_process_has_a_registry_of_its_own() -> None:
    one, other = Metrics("shop"), Metrics("shop")
    one.refused("busy")
    assert b'code="busy"' not in other.page()


@pytest.mark.parametrize("word", ["Ä", "two words", "UPPER", "a" * 41, "", "x-y", "r2d2"])
def test_what_is_no_word_of_ours_counts_as_other(word: str) -> None:
    assert Vocabulary().label(word) == "other"
    assert among(word, {"good"}) == "other"


def test_a_vocabulary_does_not_grow_without_end() -> None:
    vocabulary = Vocabulary(most=2)
    assert [vocabulary.label(word) for word in ("sentences_dropped", "b", "c", "b")] == [
        *("sentences_dropped", "b"),
        *("other", "b"),
    ]
