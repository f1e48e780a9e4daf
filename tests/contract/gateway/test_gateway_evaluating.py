"""Evaluations, golden questions and feedback over a real catalog and a real Redis, as clients meet them."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from services.shared.catalog import evaluations, jobs
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.evaluation import Evaluation, Outcome, Row
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, Queue
from tests.contract.gateway.conftest import Serving, serving
from tests.contract.gateway.test_gateway_catalog import OTHER, live
from tests.unit.gateway.messages import done, sentence

QUOTE = "The key hangs left."
ASK = {"question": "Where is the key?"}


def golden(id: str = "q1", *quotes: str, document: str = "a.md") -> dict[str, Any]:
    return {
        "question": {"id": id, "text": "Where?", "gold": [{"document_id": document, "quote": one} for one in quotes]}
    }


async def put(client: httpx.AsyncClient, *items: dict[str, Any], **options: Any) -> dict[str, Any]:
    response = await client.put("/v1/golden", json={"items": items}, **options)
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


async def order(client: httpx.AsyncClient, **options: Any) -> dict[str, Any]:
    response = await client.post("/v1/evaluations", **{"json": {}, **options})
    assert response.status_code == 202, response.text
    told: dict[str, Any] = response.json()
    return told


def finish(catalog: Catalog, started: dict[str, Any]) -> Evaluation:
    """Plays the worker."""
    now = datetime.now(UTC)
    with catalog.write() as tx:
        jobs.claim(tx, owner="w", queue=Queue.INDEX, lease_s=60, now=now, job_id=JobId(started["job_id"]))
        stored = evaluations.load(tx, started["id"])
        evaluations.add_outcomes(tx, stored.id, [Outcome(question_id=one.id) for one in stored.questions])
        whole = Evaluation(
            id=stored.id,
            space=stored.space,
            name=stored.request.name,
            subject=stored.request.subject,
            created_at=stored.created_at,
            seed=stored.request.seed,
            fingerprint="f",
            questions=stored.questions,
            system={},
            outcomes=evaluations.outcomes(tx, stored.id),
            summary=Row(name="all", n=len(stored.questions), values={}),
            by_kind=[],
        )
        evaluations.finish(tx, stored.id, whole, "# Report", "<h1>Report</h1>")
        assert jobs.succeed(tx, JobId(started["job_id"]), "w", result={}, warning=None, now=now)
    return whole


def fail(catalog: Catalog, job_id: str) -> None:
    with catalog.write() as tx:
        now = datetime.now(UTC)
        assert jobs.claim(tx, owner="w", queue=Queue.INDEX, lease_s=60, now=now, job_id=JobId(job_id))
        assert jobs.fail(tx, JobId(job_id), "w", reason="the gateway was away", now=now)


async def test_the_life_of_an_evaluation(gateway: Serving, client: httpx.AsyncClient) -> None:
    await live(gateway, client, "a.md", QUOTE)
    assert (await put(client, golden("q1", QUOTE), golden("q2", "not there")))["flagged"] == 1
    started = await order(client)
    assert started["questions"] == 1
    path = f"/v1/evaluations/{started['id']}"
    job = (await client.get(f"/v1/jobs/{started['job_id']}")).json()
    assert (job["kind"], job["state"]) == ("evaluation", "queued")

    for unfinished in (path, f"{path}/report"):
        waiting = await client.get(unfinished)
        assert (waiting.status_code, waiting.json()["code"]) == (409, "job_state_conflict")
        assert f"/v1/jobs/{started['job_id']}/events" in waiting.json()["detail"]
    (listed,) = (await client.get("/v1/evaluations")).json()["items"]
    assert (listed["id"], listed["job_id"], listed["finished"]) == (started["id"], started["job_id"], False)

    whole = await asyncio.to_thread(finish, gateway.catalog, started)
    assert Evaluation.model_validate((await client.get(path)).json()) == whole
    assert [one.id for one in whole.questions] == ["q1"]
    assert (await client.get(f"{path}/report")).text == "<h1>Report</h1>"
    assert (await client.get(f"{path}/report?as=markdown")).text == "# Report"
    for hidden in (path, f"{path}/report"):
        assert (await client.get(hidden, headers=OTHER)).json()["code"] == "evaluation_not_found"
    assert (await client.get("/v1/evaluations", headers=OTHER)).json()["items"] == []


async def test_questions_are_those_of_the_moment_of_the_order(gateway: Serving, client: httpx.AsyncClient) -> None:
    await put(client, golden("q1"))
    started = await order(client)
    await client.delete("/v1/golden/q1")
    assert [one.id for one in (await asyncio.to_thread(finish, gateway.catalog, started)).questions] == ["q1"]
    empty = await client.post("/v1/evaluations", json={})
    assert (empty.status_code, empty.json()["code"]) == (422, "golden_set_empty")
    assert "0 proposed, 0 approved, 0 flagged" in empty.json()["detail"]


@pytest.mark.parametrize("state", ["proposed", "rejected"])
async def test_only_what_an_owner_stands_behind_is_asked(client: httpx.AsyncClient, state: str) -> None:
    await put(client, {**golden("q1"), "state": state})
    assert (await client.post("/v1/evaluations", json={})).json()["code"] == "golden_set_empty"
    assert (await order(client, json={"questions": [{"id": "own", "text": "Where?"}]}))["questions"] == 1


async def test_what_it_is_compared_with_has_to_be_there(gateway: Serving, client: httpx.AsyncClient) -> None:
    await put(client, golden())
    assert await order(client, json={"against": "last"})
    unknown = await client.post("/v1/evaluations", json={"against": "none"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "evaluation_not_found")
    first = await order(client)
    unfinished = await client.post("/v1/evaluations", json={"against": first["id"]})
    assert (unfinished.status_code, unfinished.json()["code"]) == (409, "job_state_conflict")
    await asyncio.to_thread(finish, gateway.catalog, first)
    assert await order(client, json={"against": first["id"]})
    await put(client, golden(), headers=OTHER)
    theirs = await client.post("/v1/evaluations", json={"against": first["id"]}, headers=OTHER)
    assert theirs.json()["code"] == "evaluation_not_found"


async def test_evaluations_are_listed_in_pages(client: httpx.AsyncClient) -> None:
    await put(client, golden())
    ids = [(await order(client))["id"] for _ in range(3)]
    page = (await client.get("/v1/evaluations?limit=2")).json()
    rest = (await client.get("/v1/evaluations", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert [one["id"] for one in [*page["items"], *rest["items"]]] == ids[::-1]
    assert rest["next_cursor"] is None
    for path in ("/v1/evaluations", "/v1/golden", "/v1/feedback"):
        assert (await client.get(f"{path}?cursor=nonsense")).json()["code"] == "invalid_request"


async def test_an_evaluation_that_failed_is_retried(gateway: Serving, client: httpx.AsyncClient) -> None:
    await put(client, golden())
    started = await order(client)
    await asyncio.to_thread(fail, gateway.catalog, started["job_id"])
    told = (await client.get(f"/v1/evaluations/{started['id']}")).json()
    assert "the gateway was away" in told["detail"]
    assert f"/v1/jobs/{started['job_id']}/retry" in told["detail"]
    again = await client.post(f"/v1/jobs/{started['job_id']}/retry")
    assert (again.json()["state"], again.json()["kind"]) == ("queued", "evaluation")
    await asyncio.to_thread(finish, gateway.catalog, started)
    assert (await client.get(f"/v1/evaluations/{started['id']}")).status_code == 200


async def test_a_replacement_and_a_deletion_flag_questions_at_once(gateway: Serving, client: httpx.AsyncClient) -> None:
    async def flagged() -> list[str]:
        items = (await client.get("/v1/golden?flagged=true")).json()["items"]
        return [one["question"]["id"] for one in items]

    await live(gateway, client, "a.md", QUOTE)
    await put(client, golden("q1", QUOTE), golden("q2"))
    assert await flagged() == []
    await live(gateway, client, "a.md", "The key hangs right.")
    assert await flagged() == ["q1"]
    await live(gateway, client, "a.md", f"{QUOTE} Always.")
    assert await flagged() == []
    await client.delete("/v1/documents/a.md")
    assert await flagged() == ["q1"]
    page = (await client.get("/v1/golden")).json()
    assert page["counts"] == {"proposed": 0, "approved": 2, "rejected": 0, "flagged": 1}


async def test_questions_are_proposed_by_a_job(gateway: Serving, client: httpx.AsyncClient) -> None:
    response = await client.post("/v1/golden/make", json={"limit": 7, "seed": 3}, headers=OTHER)
    job_id = response.json()["job_id"]
    assert response.headers["Location"] == f"/v1/jobs/{job_id}"
    job = (await client.get(f"/v1/jobs/{job_id}", headers=OTHER)).json()
    assert (job["kind"], job["state"]) == ("golden", "queued")
    with gateway.catalog.read() as tx:
        row = jobs.find(tx, JobId(job_id))
    assert row is not None
    assert (row.kind, row.queue, row.payload) == (
        JobKind.GOLDEN,
        Queue.INDEX,
        {"limit": 7, "seed": 3, "by_model": False},
    )
    await asyncio.to_thread(fail, gateway.catalog, job_id)
    assert (await client.post(f"/v1/jobs/{job_id}/retry", headers=OTHER)).json()["state"] == "queued"


async def answered(gateway: Serving, client: httpx.AsyncClient) -> dict[str, Any]:
    one = await live(gateway, client, "a.md", QUOTE)
    gateway.world.answers(one, script=[sentence("Left.", (one, "hangs left"), of=[one]), done()])
    answer: dict[str, Any] = (await client.post("/v1/ask", json=ASK)).json()
    assert answer["status"] == "answered"
    return answer


async def test_from_an_answer_to_a_golden_question(gateway: Serving, client: httpx.AsyncClient) -> None:
    answer = await answered(gateway, client)
    body = {"answer_id": answer["id"], "verdict": "bad", "comment": "Right."}
    theirs = await client.post("/v1/feedback", json=body, headers=OTHER)
    assert theirs.json()["code"] == "answer_not_found"
    said = (await client.post("/v1/feedback", json=body)).json()
    assert (said["question"], said["answer_text"]) == (ASK["question"], answer["text"])
    assert (await client.post("/v1/feedback", json=body)).json() == said
    path = f"/v1/feedback/{said['id']}"
    assert (await client.post(f"{path}/correction", json={})).json()["code"] == "invalid_request"

    right = {"expected": "Right.", "facts": [["right"]], "gold": [{"document_id": "a.md", "quote": QUOTE}]}
    made = (await client.post(f"{path}/correction", json=right)).json()
    assert (made["state"], made["origin"], made["flagged"]) == ("approved", "feedback", None)
    assert made["question"]["text"] == ASK["question"]
    (kept,) = (await client.get("/v1/feedback?state=corrected")).json()["items"]
    assert kept["golden_id"] == made["question"]["id"]
    assert (await client.get("/v1/golden")).json()["items"] == [made]
    for again in ("correction", "dismiss"):
        response = await client.post(f"{path}/{again}", json=right)
        assert (response.status_code, response.json()["code"]) == (409, "feedback_state_conflict")
    assert (await order(client))["questions"] == 1
    await client.delete(f"/v1/golden/{made['question']['id']}")
    (opened,) = (await client.get("/v1/feedback?state=open")).json()["items"]
    assert (opened["id"], opened["golden_id"]) == (said["id"], None)
    assert (await client.post(f"{path}/correction", json=right)).json()["question"] == made["question"]


async def test_nothing_of_a_deleted_document_stays_in_feedback(gateway: Serving, client: httpx.AsyncClient) -> None:
    answer = await answered(gateway, client)
    later = (await client.post("/v1/ask", json=ASK)).json()
    await client.post("/v1/feedback", json={"answer_id": answer["id"], "verdict": "good"})
    await client.delete("/v1/documents/a.md")
    said = await client.post("/v1/feedback", json={"answer_id": later["id"], "verdict": "good"})
    assert (said.status_code, said.json()["code"]) == (404, "answer_not_found"), "it is forgotten with the document"
    [kept] = (await client.get("/v1/feedback?verdict=good")).json()["items"]
    assert "Left" not in kept["answer_text"]


async def test_without_redis_questions_are_answered_and_feedback_says_why_not(
    catalog: Catalog, blobs: Blobs, nowhere: str
) -> None:
    async with serving(catalog, blobs, nowhere) as one, httpx.AsyncClient(base_url=one.url, trust_env=False) as client:
        answer = await answered(one, client)
        said = await client.post("/v1/feedback", json={"answer_id": answer["id"], "verdict": "good"})
        assert (said.status_code, said.json()["code"]) == (503, "queue_unavailable")
        await put(client, golden())
        started = await order(client)
        assert (await client.get(f"/v1/jobs/{started['job_id']}")).json()["state"] == "queued"
