"""A real asker between a real catalog and a real queue: it answers, stops, dies, and loses no question."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from services.shared.catalog import asked, jobs
from services.shared.contracts.answers import Answer
from services.shared.contracts.ids import JobId
from services.shared.kit.presence import present
from services.shared.kit.settings import RedisSettings
from tests.contract.gateway.asking_site import PlayedServices, Processes, played_services
from tests.contract.gateway.conftest import Serving
from tests.contract.gateway.test_gateway_catalog import live
from tests.unit.gateway.messages import sentence

pytestmark = pytest.mark.slow

CANARY = "Zebrafinch-Größe"
LATER = {"Prefer": "respond-async"}


@dataclass
class Scene:
    gateway: Serving
    client: httpx.AsyncClient
    services: PlayedServices
    processes: Processes
    redis: "redis.Redis"

    async def ask(self, question: str = "Where is the key?") -> str:
        response = await self.client.post("/v1/ask", json={"question": question}, headers=LATER)
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    async def job(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"/v1/jobs/{id}")).json()
        return found

    async def until(self, true: Callable[[dict[str, Any]], bool], id: str, seconds: float = 60) -> dict[str, Any]:
        give_up = time.monotonic() + seconds
        while not true(job := await self.job(id)):
            assert time.monotonic() < give_up, f"{job}\n{self.processes.logs()[-6000:]}"
            await asyncio.sleep(0.05)
        return job

    async def over(self, id: str, seconds: float = 60) -> dict[str, Any]:
        return await self.until(lambda job: job["state"] not in ("queued", "running"), id, seconds)


@pytest.fixture
async def scene(gateway: Serving, client: httpx.AsyncClient, redis_url: str, tmp_path: Path) -> AsyncIterator[Scene]:
    async with played_services() as services:
        with redis.Redis.from_url(redis_url) as emptied:
            emptied.flushall()
            passage = await live(gateway, client, "a.md", f"The {CANARY} hangs left of the door.")
            services.passage = passage
            services.sentence = sentence("It hangs left.", (passage, f"{CANARY} hangs left"), of=[passage])
            yield Scene(gateway, client, services, Processes(tmp_path, redis_url, services.url), emptied)


def writing(job: dict[str, Any]) -> bool:
    return (job["state"], job["stage"]) == ("running", "write")


async def test_questions_are_answered_shown_and_forgotten_with_their_document(scene: Scene, redis_url: str) -> None:
    waiting = await scene.ask()
    lines = "".join(json.dumps({"question": f"Where is key {n}?"}) + "\n" for n in range(5))
    sent = await scene.client.post("/v1/ask", content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert sent.status_code == 202
    many = [one["id"] for one in sent.json()["jobs"]]
    with scene.processes.asker():
        async with scene.client.stream("GET", f"/v1/jobs/{waiting}/events") as stream:
            told = [line async for line in stream.aiter_lines()]
        seen = [json.loads(line[5:]) for line in told if line.startswith("data:")]
        assert len({line for line in told if line.startswith("id:")}) == len(seen)
        assert (seen[0]["state"], seen[-1]["state"]) == ("queued", "succeeded")
        assert all(one["kind"] == "ask" for one in seen)
        for id in many:
            assert (await scene.over(id))["state"] == "succeeded"
        assert present("asker", RedisSettings(redis_url=redis_url)) == 1
        answer = Answer.model_validate((await scene.job(waiting))["result"])
        assert (answer.status, answer.text) == ("answered", "It hangs left [1].")
        assert answer.citations[0].quote == f"{CANARY} hangs left"
        assert answer.trace_id in scene.services.asked
        judged = await scene.client.post("/v1/feedback", json={"answer_id": answer.id, "verdict": "up"})
        assert judged.status_code in (201, 422), judged.text
        # What Celery holds is nothing that anybody misses.
        scene.redis.flushall()
        assert (await scene.job(waiting))["result"]["id"] == answer.id
        assert (await scene.client.get("/v1/jobs/5f0c8f1e-0000-4000-8000-000000000000")).status_code == 404
    with scene.gateway.catalog.read() as tx:
        row = jobs.find(tx, JobId(waiting))
    assert row is not None
    assert asked.order_of(row).asked is None, "what was asked is not kept longer than needed"
    receipt = (await scene.client.delete("/v1/documents/a.md")).json()
    assert receipt["cached_answers"] >= 6
    job = await scene.job(waiting)
    assert (job["state"], job["result"]) == ("succeeded", None)
    assert "a.md" in job["warning"]
    for id in (waiting, *many):
        assert CANARY not in json.dumps(await scene.job(id), ensure_ascii=False)


async def test_a_cancelled_question_leaves_the_model_within_seconds(scene: Scene) -> None:
    with scene.processes.asker():
        scene.services.hangs = True
        id = await scene.ask()
        await scene.until(writing, id)
        cancelled = time.monotonic()
        assert (await scene.client.post(f"/v1/jobs/{id}/cancel")).status_code == 200
        while not scene.services.left:
            assert time.monotonic() - cancelled < 3, scene.processes.logs()[-6000:]
            await asyncio.sleep(0.02)
        job = await scene.over(id, 3)
        assert (job["state"], job["reason"], job["result"]) == ("cancelled", "cancelled on request", None)
        scene.services.hangs = False
        assert (await scene.over(await scene.ask("And now?"), 10))["state"] == "succeeded"
        again = (await scene.client.post(f"/v1/jobs/{id}/retry")).json()
        assert again["state"] == "queued"
        assert (await scene.over(id, 10))["state"] == "succeeded"


async def test_a_question_whose_message_was_lost_leaves_the_queue_all_the_same(scene: Scene) -> None:
    id = await scene.ask()
    scene.redis.flushall()
    with scene.processes.asker():
        await asyncio.sleep(3)
        assert (await scene.job(id))["state"] == "queued", "nobody told the asker"
        with scene.processes.reconciler():
            assert (await scene.over(id))["state"] == "succeeded"


async def test_a_killed_asker_loses_no_question_and_kills_none_for_ever(scene: Scene) -> None:
    scene.services.hangs = True
    id = await scene.ask()
    with scene.processes.reconciler():
        with scene.processes.asker() as first:
            await scene.until(writing, id)
            os.killpg(first.pid, signal.SIGKILL)
            first.wait(10)
        job = await scene.until(lambda job: job["state"] == "queued", id)
        assert job["attempts"] == 1
        with scene.processes.asker() as second:
            await scene.until(writing, id)
            os.killpg(second.pid, signal.SIGKILL)
            second.wait(10)
        job = await scene.over(id)
    assert (job["state"], job["attempts"]) == ("failed", 2)
    assert "given up after 2 attempts" in job["reason"]


async def test_an_asker_that_is_told_to_end_gives_its_question_back(scene: Scene) -> None:
    scene.services.hangs = True
    id = await scene.ask()
    with scene.processes.asker() as first:
        await scene.until(writing, id)
        first.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(first.wait, 10) == 0
    job = await scene.job(id)
    assert (job["state"], job["attempts"]) == ("queued", 0)
    scene.services.hangs = False
    with scene.processes.asker():
        assert (await scene.over(id))["state"] == "succeeded"


async def test_answers_are_forgotten_when_their_time_is_over(scene: Scene) -> None:
    scene.processes.more = {"RAGSTONE_ANSWER_KEEP_S": "1", "RAGSTONE_SWEEP_EVERY_S": "0.5"}
    id = await scene.ask()
    with scene.processes.asker():
        await scene.over(id)
    with scene.processes.reconciler():
        give_up = time.monotonic() + 30
        while (await scene.client.get(f"/v1/jobs/{id}")).status_code != 404:
            assert time.monotonic() < give_up, scene.processes.logs()[-6000:]
            await asyncio.sleep(0.2)
