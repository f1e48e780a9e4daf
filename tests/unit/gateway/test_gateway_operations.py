"""Metrics of the gateway, and the warm-up, over fakes."""

import asyncio

import httpx
import pytest

from services.gateway.flow.overview import KEEP_S, OverviewFlow
from services.gateway.flow.warm import EVERY_S, LOADING, WarmFlow
from services.shared.contracts.answers import AnswerReason, Usage
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.keys import Role
from tests.unit.gateway.fake_given import WAYS
from tests.unit.gateway.fake_operations import FakeFigures, FakeWarmed
from tests.unit.gateway.fakes import FakeParts, World
from tests.unit.gateway.messages import done, passage, sentence
from tests.unit.gateway.test_gateway_doors import assert_problem
from tests.unit.gateway.test_gateway_keys import FAR, auth
from tests.unit.kit.test_kit_metrics import Samples, samples


def series(found: Samples, name: str) -> dict[tuple[str, ...], float]:
    """One metric's values by its labels' values."""
    return {tuple(value for _, value in labels): number for (one, labels), number in found.items() if one == name}


async def scraped(client: httpx.AsyncClient) -> Samples:
    got = await client.get("/metrics")
    assert got.status_code == 200, got.text
    return samples(got.content)


def answering() -> World:
    world = World()
    world.ways.known = WAYS
    ended = done().model_copy(update={"usage": Usage(prompt=90, answer=12)})
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), ended])
    return world


async def test_an_answer_is_counted_with_all_that_it_took() -> None:
    world = answering()
    async with world.client() as client:
        first = (await client.post("/v1/ask", json={"question": "open?"})).json()
        again = (await client.post("/v1/ask", json={"question": "open?"})).json()
        found = await scraped(client)
    assert (first["status"], first["cached"], again["cached"]) == ("answered", False, True)
    assert (first["usage"], again["usage"]) == ({"prompt": 90, "answer": 12}, None)
    assert series(found, "ragstone_questions_total") == {("none", "answered"): 2}
    assert series(found, "ragstone_cache_total") == {("hit",): 1, ("miss",): 1, ("shared",): 0}
    assert series(found, "ragstone_gates_total") == {("good",): 1}
    assert series(found, "ragstone_sentences_total") == {("kept",): 1, ("dropped",): 0}
    assert series(found, "ragstone_tokens_total") == {("read",): 90, ("written",): 12}
    timed = series(found, "ragstone_stage_seconds_count")
    assert timed["gateway", "total"] == timed["gateway", "write"] == timed["gateway", "cache"] == 1
    assert series(found, "ragstone_requests_total")["POST", "/v1/ask", "gateway", "200"] == 2
    assert series(found, "ragstone_answers_under_way") == {(): 0}


async def test_what_is_no_answer_is_counted_by_its_reason() -> None:
    world = World()
    async with world.client() as client:
        await client.post("/v1/ask", json={"question": "soup?"})
        world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "gone")
        await client.post("/v1/ask", json={"question": "stew?"})
        found = await scraped(client)
    assert series(found, "ragstone_questions_total") == {(AnswerReason.NOTHING_RELEVANT, "abstained"): 1}
    assert series(found, "ragstone_problems_total") == {("retriever_unavailable", "gateway"): 1}


async def test_the_catalogs_numbers_and_the_parts_are_told() -> None:
    world = World()
    world.parts.down["worker"] = "none is running"
    async with world.client() as client:
        found = await scraped(client)
    assert series(found, "ragstone_jobs")["document", "succeeded"] == 41
    assert series(found, "ragstone_jobs")["reembed", "failed"] == 0
    assert series(found, "ragstone_queue_jobs") == {("ask",): 2, ("ingest",): 0, ("index",): 0}
    assert series(found, "ragstone_queue_oldest_seconds")["ask",] == 12.5
    assert series(found, "ragstone_documents") == {(): 40}
    assert series(found, "ragstone_index_lag_changes") == {("building",): 7}
    ready = series(found, "ragstone_part_ready")
    assert (ready["worker",], ready["asker",], ready["retriever",]) == (0, 1, 1)


async def test_without_the_catalog_the_rest_is_told() -> None:
    world = World()
    world.figures.away = True
    async with world.client() as client:
        found = await scraped(client)
    assert series(found, "ragstone_jobs") == {}
    assert series(found, "ragstone_part_ready")


async def test_no_text_question_id_or_key_becomes_a_label() -> None:
    world = answering()
    world.parts.down["retriever"] = "canary detail"
    world.documents.hold("canary-document.md")
    async with world.client() as client:
        await client.get("/metrics")
        before = len((await client.get("/metrics")).content.splitlines())
        for n in range(60):
            headers = {"Ragstone-Space": f"canary-{n}", "X-Request-ID": f"canary-{n}"}
            await client.post("/v1/ask", json={"question": f"canary {n}?"}, headers=headers)
            await client.get(f"/v1/documents/canary-document-{n}.md", headers=headers)
            await client.get(f"/canary/{n}?q=canary", headers=headers)
        page = (await client.get("/metrics")).content
    assert b"canary" not in page
    assert len(page.splitlines()) < before + 250


async def test_metrics_are_for_admins_once_there_are_keys() -> None:
    world = World()
    key = world.keys.make(Role.ADMIN)
    async with world.client(FAR) as client:
        assert_problem(await client.get("/metrics"), 401, ErrorCode.KEY_REQUIRED)
        for role in (Role.READ, Role.WRITE):
            refused = await client.get("/metrics", headers=auth(world.keys.make(role)))
            assert_problem(refused, 403, ErrorCode.ROLE_INSUFFICIENT)
        assert (await client.get("/metrics", headers=auth(key))).status_code == 200


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_however_many_look_it_is_looked_once_in_a_while() -> None:
    clock, book = Clock(), FakeFigures()
    flow = OverviewFlow(parts=FakeParts(), book=book, clock=clock)
    await asyncio.gather(*(flow.now() for _ in range(5)))
    await flow.now()
    assert book.looks == 1
    clock.now += KEEP_S
    await flow.now()
    assert book.looks == 2


@pytest.mark.parametrize(("after_s", "asked"), [(EVERY_S - 1, 1), (EVERY_S, 2)])
async def test_a_warm_up_is_done_once_for_all_who_ask_within_a_while(after_s: float, asked: int) -> None:
    clock, part = Clock(), FakeWarmed()
    flow = WarmFlow({"retriever": part}, clock)
    one, other = await asyncio.gather(flow.warm_up(0), flow.warm_up(0))
    assert one == other
    assert one[0].parts == {"retriever": LOADING}
    part.loaded.set()
    warmth, over = await flow.warm_up(5)
    assert (warmth.parts["retriever"].ready, over, part.asked) == (True, True, 1)
    clock.now += after_s
    await flow.warm_up(1)
    assert part.asked == asked


async def test_a_long_load_is_not_begun_twice() -> None:
    clock, part = Clock(), FakeWarmed()
    flow = WarmFlow({"retriever": part}, clock)
    await flow.warm_up(0)
    clock.now += 10 * EVERY_S
    _, over = await flow.warm_up(0.01)
    assert (part.asked, over) == (1, False)
    part.loaded.set()
    await flow.warm_up(1)


async def test_the_door_answers_at_once_and_says_what_could_not_be_loaded() -> None:
    world = World()
    async with world.client() as client:
        at_once = await client.post("/v1/warmup")
        assert at_once.status_code == 202
        assert {part["ready"] for part in at_once.json()["parts"].values()} == {False}
        world.warmed["generator"].fault = RagstoneError(ErrorCode.GENERATOR_UNAVAILABLE, "start it")
        for part in world.warmed.values():
            part.loaded.set()
        ended = await client.post("/v1/warmup", params={"wait_s": 5})
        too_long = await client.post("/v1/warmup", params={"wait_s": 61})
    assert ended.status_code == 200
    assert ended.json()["parts"] == {
        "retriever": {"ready": True, "detail": "here"},
        "generator": {"ready": False, "detail": "start it"},
    }
    assert_problem(too_long, 422, ErrorCode.INVALID_REQUEST)
