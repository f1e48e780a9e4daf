"""Doors for evaluations: what is refused before anything is written, what is rung for, and how a report is served."""

from typing import Any

import pytest

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.evaluation import Evaluation, Row, Subject
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import Queue
from services.shared.contracts.search import Stages
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import NOON, passage
from tests.unit.gateway.test_gateway_doors import assert_problem

MAIN = SpaceId("main")
OTHER = {"Ragstone-Space": "other"}


def question(id: str = "q1", **told: Any) -> dict[str, Any]:
    return {"id": id, "text": "When?", **told}


def finished(world: World) -> Evaluation:
    whole = Evaluation(
        id="e1",
        space="main",
        name="golden",
        subject=Subject.ALL,
        created_at=NOON,
        seed=0,
        fingerprint="f",
        questions=[],
        system={"version": "1"},
        outcomes=[],
        summary=Row(name="all", n=0, values={}),
        by_kind=[],
    )
    world.evaluations.finished[(MAIN, "e1")] = (whole, "<h1>Réport</h1>", "# Réport")
    return whole


async def test_an_order_is_written_down_and_rung_for() -> None:
    world = World()
    async with world.client() as client:
        response = await client.post("/v1/evaluations", json={"questions": [question()], "ablate": True})
    assert response.status_code == 202
    assert response.json() == {"id": "e1", "job_id": "je1", "questions": 1}
    assert response.headers["Location"] == "/v1/evaluations/e1"
    ((space, request),) = world.evaluations.ordered
    assert (space, request.ablate, request.subject) == (MAIN, True, Subject.ALL)
    assert world.bell.rung == [(Queue.INDEX, "je1")]


async def test_without_questions_the_golden_set_is_asked() -> None:
    world = World()
    async with world.client() as client:
        empty = await client.post("/v1/evaluations", json={})
        assert "ragstone golden make" in assert_problem(empty, 422, ErrorCode.GOLDEN_SET_EMPTY)["detail"]
        assert world.bell.rung == []
        world.evaluations.golden = 3
        assert (await client.post("/v1/evaluations", json={})).json()["questions"] == 3


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"questions": []}, "empty"),
        ({"questions": [question("a"), question("b"), question("a")]}, "'a' stands twice"),
        ({"questions": [question("a\n")]}, "'a\\n'"),
        ({"questions": [question(text=" ")]}, "blank text"),
        ({"questions": [question(facts=[["nine"], []])]}, "fact without wording"),
        ({"questions": [question(facts=[[" "]])]}, "fact without wording"),
        ({"questions": [question(facts=[["a"], ["b"]], needed=3)]}, "needs 3 facts and has 2"),
        ({"questions": [question(must_not=[""])]}, "must_not"),
        ({"questions": [question(gold=[{"document_id": "a", "quote": "\n"}])]}, "gold passage"),
        ({"questions": [question(gold=[{"document_id": ""}])]}, "gold passage"),
        (
            {"questions": [question(text="why " * 500 + "now")]},
            "'q1' has a text of 2003 characters, and none longer than 2",
        ),
        ({"questions": [question(kind=" ")]}, "blank kind"),
        ({"questions": [question(text="a\0b")]}, "'q1' holds a zero character"),
        ({"questions": [question(expected="a\0")]}, "zero character"),
        ({"questions": [question(facts=[["a", "b\0"]])]}, "zero character"),
        ({"questions": [question(gold=[{"document_id": "a", "quote": "b\0"}])]}, "zero character"),
        ({"questions": [question(gold=[{"document_id": "a", "grade": 10**18}])]}, "questions.0.gold.0.grade"),
        ({"questions": [question()], "name": "a\0"}, "zero character"),
        ({"questions": [question(colour="red")]}, "questions.0.colour"),
        ({"risk": 1}, "risk"),
        ({"subject": "half"}, "subject"),
    ],
)
async def test_what_cannot_be_evaluated_is_named(body: dict[str, Any], named: str) -> None:
    world = World()
    async with world.client() as client:
        response = await client.post("/v1/evaluations", json=body)
    assert named in assert_problem(response, 422, ErrorCode.INVALID_REQUEST)["detail"]
    assert (world.evaluations.ordered, world.bell.rung) == ([], [])


async def test_a_question_set_may_be_larger_than_a_question_and_has_a_limit_too() -> None:
    world = World()
    large = [question(f"q{n}", expected="x" * 1000) for n in range(1500)]
    limit = 3 * world.settings.document_max_bytes + 1_000_000
    async with World(settings=GatewaySettings()).client() as client:
        assert (await client.post("/v1/evaluations", json={"questions": large})).status_code == 202
        items = {"items": [{"question": one} for one in large]}
        assert (await client.put("/v1/golden", json=items)).json()["added"] == 1500
    async with world.client() as client:
        for method, path in (("POST", "/v1/evaluations"), ("PUT", "/v1/golden")):
            refused = await client.request(method, path, content=b"x" * (limit + 1))
            assert_problem(refused, 413, ErrorCode.BODY_TOO_LARGE)
        for path in ("/v1/golden/make", "/v1/feedback", "/v1/feedback/f/correction"):
            assert_problem(await client.post(path, content=b"x" * 1_000_001), 413, ErrorCode.BODY_TOO_LARGE)


async def test_a_finished_evaluation_is_given_whole_and_unknown_ones_are_not_there() -> None:
    world = World()
    whole = finished(world)
    async with world.client() as client:
        found = await client.get("/v1/evaluations/e1")
        assert Evaluation.model_validate(found.json()) == whole
        for path in ("/v1/evaluations/e1", "/v1/evaluations/e1/report"):
            assert_problem(await client.get(path, headers=OTHER), 404, ErrorCode.EVALUATION_NOT_FOUND)
        assert_problem(await client.get("/v1/evaluations/none"), 404, ErrorCode.EVALUATION_NOT_FOUND)
        bad = await client.get("/v1/evaluations/e1/report?as=pdf")
        assert_problem(bad, 422, ErrorCode.INVALID_REQUEST)
        assert (await client.get("/v1/evaluations")).json() == {"items": [], "next_cursor": None}


async def test_a_report_is_a_page_that_can_reach_nothing() -> None:
    world = World()
    finished(world)
    async with world.client() as client:
        page = await client.get("/v1/evaluations/e1/report")
        markdown = await client.get("/v1/evaluations/e1/report?as=markdown")
    assert (page.text, page.headers["content-type"]) == ("<h1>Réport</h1>", "text/html; charset=utf-8")
    assert (markdown.text, markdown.headers["content-type"]) == ("# Réport", "text/markdown; charset=utf-8")
    for response in (page, markdown):
        policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'unsafe-inline'",
            "script-src": "'unsafe-inline'",
            "img-src": "data:",
            "font-src": "data:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "sandbox": "allow-scripts",
        }
        assert response.headers["x-content-type-options"] == "nosniff"


async def test_stages_of_a_question_reach_the_retriever() -> None:
    world = World()
    world.answers(passage(), script=[])
    async with world.client() as client:
        await client.post("/v1/ask", json={"question": "When?", "stages": {"vector": False, "gate": False}})
        await client.post("/v1/ask", json={"question": "When?"})
        unknown = await client.post("/v1/ask", json={"question": "When?", "stages": {"magic": True}})
    assert [call.stages for call in world.retriever.calls] == [Stages(vector=False, gate=False), None]
    assert_problem(unknown, 422, ErrorCode.INVALID_REQUEST)
