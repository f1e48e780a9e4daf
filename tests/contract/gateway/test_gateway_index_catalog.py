"""Indexes over HTTP and a real catalog: from the order over the switch and back to the removal."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx

from services.shared.catalog import index_building, indexes, jobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexComparison
from services.shared.contracts.jobs import JobKind, Queue
from tests.contract.gateway.conftest import Serving
from tests.contract.gateway.test_gateway_catalog import live

FIRST = EmbedderSpec("mini", "53aa", 384, "", "", 256)
SECOND = EmbedderSpec("big", "77bb", 768, "query: ", "passage: ", 512)
MAIN = SpaceId("main")


def comparison(*, worse: bool) -> IndexComparison:
    low, high = (-0.3, -0.1) if worse else (-0.1, 0.2)
    figures = {"serving": 0.8, "candidate": 0.8 + (low + high) / 2, "difference": (low + high) / 2}
    return IndexComparison(
        questions=40, golden="own", metric="ndcg@10", low=low, high=high, worse=worse, seq=1, **figures
    )


def build(catalog: Catalog, index: dict[str, Any], *, worse: bool = False) -> None:
    """What a worker does."""
    now = datetime.now(UTC)
    job_id, index_id = JobId(index["job_id"]), IndexId(index["id"])
    with catalog.write() as tx:
        jobs.claim(tx, owner="w", queue=Queue.INDEX, lease_s=60, now=now, job_id=job_id, kind=JobKind.REEMBED)
        stored = indexes.stored(tx, index_id)
        assert stored is not None
        index_building.settle(tx, stored, SECOND)
        index_building.ready(tx, index_id, comparison(worse=worse), None)
        assert jobs.succeed(tx, job_id, "w", result=None, warning=None, now=now)


def follow(catalog: Catalog, index_id: str) -> None:
    """A worker brings the index level and ends its job, without promoting it."""
    now = datetime.now(UTC)
    with catalog.write() as tx:
        stored = indexes.stored(tx, IndexId(index_id))
        assert stored is not None
        assert stored.job_id is not None
        jobs.claim(tx, owner="w", queue=Queue.INDEX, lease_s=60, now=now, job_id=stored.job_id, kind=JobKind.REEMBED)
        behind = index_building.behind(tx, stored, 100)
        assert index_building.note_followed(tx, stored.id, seq=behind.seq, vectors=9, truncated=0)
        jobs.succeed(tx, stored.job_id, "w", result=None, warning=None, now=now)


async def filled(gateway: Serving, client: httpx.AsyncClient) -> str:
    """A space with a document and its first index."""
    with gateway.catalog.write() as tx:
        first = indexes.create(tx, MAIN, id=IndexId("first"), embedder=FIRST, now=datetime.now(UTC))
    await live(gateway, client, "a.md", "One fact.")
    return str(first.id)


async def test_an_empty_space_has_no_index_and_builds_none(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/indexes")).json() == {"items": [], "next_cursor": None, "configured": "mini"}
    refused = await client.post("/v1/indexes", json={"embedder": "big"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


async def test_the_life_of_an_index(gateway: Serving, client: httpx.AsyncClient) -> None:
    first = await filled(gateway, client)
    begun = await client.post("/v1/indexes", json={"embedder": "big"})
    assert begun.status_code == 202
    second = begun.json()
    assert (second["state"], second["embedder"]["dimension"], second["chunks"]) == ("building", None, 1)
    job = (await client.get(f"/v1/jobs/{second['job_id']}")).json()
    assert (job["kind"], job["state"]) == ("reembed", "queued")
    busy = await client.post("/v1/indexes", json={"embedder": "other"})
    assert (busy.status_code, busy.json()["code"]) == (409, "index_state_conflict")
    early = await client.post(f"/v1/indexes/{second['id']}/promote", json={"force": True})
    assert (early.status_code, early.json()["code"]) == (409, "index_state_conflict")

    await asyncio.to_thread(build, gateway.catalog, second)
    shown = (await client.get(f"/v1/indexes/{second['id']}")).json()
    assert (shown["state"], shown["embedder"]["dimension"], shown["lag"]) == ("ready", 768, 0)
    switched = await client.post(f"/v1/indexes/{second['id']}/promote")
    assert (switched.status_code, switched.json()["state"]) == (200, "serving")
    listed = (await client.get("/v1/indexes")).json()["items"]
    assert [(one["id"], one["state"]) for one in listed] == [(second["id"], "serving"), (first, "standby")]

    back = await client.post("/v1/indexes/rollback")
    assert (back.status_code, back.json()["id"]) == (200, first)
    kept = await client.delete(f"/v1/indexes/{first}")
    assert (kept.status_code, kept.json()["code"]) == (409, "index_state_conflict")
    removed = await client.delete(f"/v1/indexes/{second['id']}")
    assert (removed.status_code, removed.json()["state"]) == (202, "retired")
    assert (await client.post("/v1/indexes/rollback")).status_code == 409
    assert (await client.get("/v1/indexes/none")).json()["code"] == "index_not_found"
    elsewhere = await client.get(f"/v1/indexes/{first}", headers={"Ragstone-Space": "other"})
    assert elsewhere.status_code == 404, "another space does not know it"


async def test_one_that_finds_less_is_refused_with_its_figures_unless_forced(
    gateway: Serving, client: httpx.AsyncClient
) -> None:
    await filled(gateway, client)
    second = (await client.post("/v1/indexes", json={"embedder": "big"})).json()
    await asyncio.to_thread(build, gateway.catalog, second, worse=True)
    refused = await client.post(f"/v1/indexes/{second['id']}/promote", json={"force": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "index_worse")
    for said in ("0.600 against 0.800", "40 questions", "force"):
        assert said in refused.json()["detail"]
    forced = await client.post(f"/v1/indexes/{second['id']}/promote", json={"force": True})
    assert (forced.status_code, forced.json()["state"]) == (200, "serving")


async def test_one_that_lags_is_promoted_as_soon_as_it_is_level(gateway: Serving, client: httpx.AsyncClient) -> None:
    await filled(gateway, client)
    second = (await client.post("/v1/indexes", json={"embedder": "big"})).json()
    await asyncio.to_thread(build, gateway.catalog, second)
    await live(gateway, client, "b.md", "Another fact.")
    asked = asyncio.create_task(client.post(f"/v1/indexes/{second['id']}/promote"))
    for _ in range(100):
        await asyncio.sleep(0.05)
        shown = (await client.get(f"/v1/indexes/{second['id']}")).json()
        if shown["job_id"] != second["job_id"]:
            break
    assert (shown["state"], shown["lag"]) == ("ready", 1)
    assert "1 changes are left" in shown["reason"]
    await asyncio.to_thread(follow, gateway.catalog, second["id"])
    response = await asked
    assert (response.status_code, response.json()["state"]) == (200, "serving")


async def test_a_cancelled_build_is_failed_and_goes_on_when_it_is_ordered_again(
    gateway: Serving, client: httpx.AsyncClient
) -> None:
    await filled(gateway, client)
    second = (await client.post("/v1/indexes", json={"embedder": "big"})).json()
    assert (await client.post(f"/v1/jobs/{second['job_id']}/cancel")).json()["state"] == "cancelled"
    shown = (await client.get(f"/v1/indexes/{second['id']}")).json()
    assert shown["state"] == "failed"
    assert "cancelled on request" in shown["reason"]
    again = (await client.post("/v1/indexes", json={"embedder": "big"})).json()
    assert (again["id"], again["state"]) == (second["id"], "building")
    assert again["job_id"] != second["job_id"]
