"""Questions sent to be answered later: which become jobs, who may see these, and what their events say."""

import json
from typing import Any

import httpx
import pytest

from services.gateway.domain.asked_later import MOST_LINES, state_id, wants_it_later
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import Job, JobState, Queue
from services.shared.contracts.keys import Role
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import job
from tests.unit.gateway.test_gateway_doors import assert_problem

LATER = {"Prefer": "respond-async"}
LINES = {"Content-Type": "application/x-ndjson"}


@pytest.mark.parametrize(
    ("prefer", "later"),
    [
        (["respond-async"], True),
        (["Respond-Async, wait=10"], True),
        (["return=minimal", "wait=5, respond-async; foo=1"], True),
        ([], False),
        (["respond-asynchronously"], False),
        (['x="respond-async"'], False),
    ],
)
def test_the_preference_is_found_among_others(prefer: list[str], later: bool) -> None:
    assert wants_it_later(prefer) is later


async def test_a_question_that_may_wait_becomes_a_job() -> None:
    world = World()
    async with world.client() as client:
        asked = {"question": "Who has the key?", "stream": True}
        headers = {**LATER, "Ragstone-Space": "team", "X-Request-ID": "mine-7", "Cache-Control": "no-cache"}
        response = await client.post("/v1/ask", json=asked, headers=headers)
    assert response.status_code == 202
    body = response.json()
    assert set(body) == set(Job.model_fields)
    assert (body["kind"], body["state"], body["result"]) == ("ask", "queued", None)
    assert response.headers["Location"] == f"/v1/jobs/{body['id']}"
    assert response.headers["Preference-Applied"] == "respond-async"
    ((space, question, sender, request_id),) = world.later.orders
    assert (space, question.question, request_id) == ("team", "Who has the key?", "mine-7")
    assert (sender.key_id, sender.fresh) == (None, True)
    assert world.bell.rung == [(Queue.ASK, JobId("q0"))]
    assert world.retriever.calls == [], "it is answered by another process"


@pytest.mark.parametrize(
    ("question", "code"),
    [(" \n ", ErrorCode.QUESTION_EMPTY), ("x" * 2001, ErrorCode.QUESTION_TOO_LONG)],
)
async def test_what_cannot_be_asked_is_told_at_once(question: str, code: ErrorCode) -> None:
    world = World()
    async with world.client() as client:
        single = await client.post("/v1/ask", json={"question": question}, headers=LATER)
        body = "\n".join([json.dumps({"question": "Fine?"}), "", json.dumps({"question": question})])
        lines = await client.post("/v1/ask", content=body, headers=LINES)
    assert_problem(single, 422, code)
    assert assert_problem(lines, 422, code)["detail"].startswith("Line 3: ")
    assert world.later.orders == []
    assert world.bell.rung == []


async def test_a_key_of_a_web_page_is_answered_at_once_and_sends_no_lines() -> None:
    world = World()
    secret = world.keys.make(public=True, allowed_origins=["https://example.com"])
    headers = {"Authorization": f"Bearer {secret}", "Origin": "https://example.com"}
    async with world.client() as client:
        single = await client.post("/v1/ask", json={"question": "a"}, headers={**headers, **LATER})
        lines = await client.post("/v1/ask", content='{"question": "a"}', headers={**headers, **LINES})
    assert single.status_code == 200
    assert "Preference-Applied" not in single.headers
    assert_problem(lines, 403, ErrorCode.ROLE_INSUFFICIENT)


async def test_lines_become_one_job_each_in_their_order() -> None:
    world = World()
    secret = world.keys.make(Role.READ, daily_tokens=500)
    key_id = secret.split("_")[1]
    body = "".join(json.dumps({"question": f"Question {n}?"}) + "\r\n" for n in range(3))
    async with world.client() as client:
        headers = {**LINES, "Authorization": f"Bearer {secret}"}
        response = await client.post("/v1/ask", content=body, headers=headers)
        empty = await client.post("/v1/ask", content="\n \n", headers=headers)
    assert response.status_code == 202
    assert [one["id"] for one in response.json()["jobs"]] == ["q0", "q1", "q2"]
    assert {one["document_id"] for one in response.json()["jobs"]} == {None}
    assert [one.question for _, one, _, _ in world.later.orders] == [f"Question {n}?" for n in range(3)]
    sender = world.later.orders[0][2]
    assert (sender.key_id, sender.payer.client, sender.payer.daily_tokens) == (key_id, key_id, 500)
    assert world.bell.rung == [(Queue.ASK, JobId(f"q{n}")) for n in range(3)]
    assert_problem(empty, 422, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("bad", "named"),
    [('{"question": "a", "colour": 1}', "colour"), ("{not json", "line 2"), ('["a"]', "line 2"), ("{}", "question")],
)
async def test_one_bad_line_is_named_and_queues_nothing(bad: str, named: str) -> None:
    world = World()
    body = "\n".join(['{"question": "a"}', bad, '{"question": "b"}'])
    async with world.client() as client:
        response = await client.post("/v1/ask", content=body, headers=LINES)
    assert response.status_code in (400, 422)
    detail = response.json()["detail"]
    assert "line 2" in detail
    assert named in detail
    assert world.later.orders == []


async def test_there_may_be_a_thousand_lines_and_each_counts_as_a_question() -> None:
    world = World()
    line = '{"question": "a"}\n'
    async with world.client() as client:
        too_many = await client.post("/v1/ask", content=line * (MOST_LINES + 1), headers=LINES)
        enough = await client.post("/v1/ask", content=line * MOST_LINES, headers=LINES)
    assert "1001 questions" in assert_problem(too_many, 422, ErrorCode.INVALID_REQUEST)["detail"]
    assert len(enough.json()["jobs"]) == len(world.later.orders) == MOST_LINES
    limited = World()
    headers = {**LINES, "Authorization": f"Bearer {limited.keys.make(requests_per_minute=5)}"}
    async with limited.client() as client:
        assert (await client.post("/v1/ask", content=line * 5, headers=headers)).status_code == 202
        assert_problem(await client.post("/v1/ask", content=line, headers=headers), 429, ErrorCode.RATE_LIMITED)
    assert len(limited.later.orders) == 5


async def test_more_lines_than_the_limit_never_fit_and_cost_nothing() -> None:
    world = World()
    line = '{"question": "a"}\n'
    headers = {**LINES, "Authorization": f"Bearer {world.keys.make(requests_per_minute=5)}"}
    async with world.client() as client:

        async def sent(lines: int) -> httpx.Response:
            return await client.post("/v1/ask", content=line * lines, headers=headers)

        never = await sent(6)
        assert "at most 5 lines" in assert_problem(never, 422, ErrorCode.INVALID_REQUEST)["detail"]
        assert (never.headers["RateLimit-Remaining"], "Retry-After" in never.headers) == ("5", False)
        assert "1001 questions" in (await sent(MOST_LINES + 1)).json()["detail"], "the smaller reason comes later"
        taken = await sent(2)
        assert (taken.status_code, taken.headers["RateLimit-Remaining"]) == (202, "2")
        later = await sent(3)
        assert_problem(later, 429, ErrorCode.RATE_LIMITED)
        assert (later.headers["RateLimit-Remaining"], later.headers["Retry-After"]) == ("2", "7")
        assert (await sent(2)).headers["RateLimit-Remaining"] == "0"
    assert len(world.later.orders) == 4


async def test_a_byte_order_mark_before_the_first_line_is_none_of_it() -> None:
    world = World()
    async with world.client() as client:
        content = b'\xef\xbb\xbf{"question": "Who has the key?"}\n{"question": "a"}'
        assert (await client.post("/v1/ask", content=content, headers=LINES)).status_code == 202
        second = await client.post("/v1/ask", content=b'{"question": "a"}\n' + content, headers=LINES)
    assert [one.question for _, one, _, _ in world.later.orders] == ["Who has the key?", "a"]
    assert "line 2" in second.json()["detail"]


async def test_a_read_key_sees_watches_and_cancels_its_own_questions_only() -> None:
    world = World()
    mine, other, writer = (world.keys.make(role) for role in (Role.READ, Role.READ, Role.WRITE))
    ended = job("q1", JobState.SUCCEEDED)
    world.jobs.jobs[(SpaceId("main"), JobId("q1"))] = [ended]
    world.jobs.jobs[(SpaceId("main"), JobId("d1"))] = [job("d1", JobState.SUCCEEDED)]
    world.jobs.asked_by[JobId("q1")] = mine.split("_")[1]
    async with world.client() as client:

        async def tried(secret: str, id: str) -> list[httpx.Response]:
            headers = {"Authorization": f"Bearer {secret}"}
            paths = [("GET", f"/v1/jobs/{id}"), ("GET", f"/v1/jobs/{id}/events"), ("POST", f"/v1/jobs/{id}/cancel")]
            return [await client.request(method, path, headers=headers) for method, path in paths]

        assert {one.status_code for one in await tried(mine, "q1")} == {200}
        assert {one.status_code for one in await tried(writer, "q1")} == {200}
        for refused in (*await tried(other, "q1"), *await tried(mine, "d1")):
            assert_problem(refused, 404, ErrorCode.JOB_NOT_FOUND)
        listed = await client.get("/v1/jobs", headers={"Authorization": f"Bearer {mine}"})
    assert_problem(listed, 403, ErrorCode.ROLE_INSUFFICIENT)


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Ids and jobs of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if fields.get("event") == "job":
            found.append((fields["id"], json.loads(fields["data"])))
    return found


async def test_who_comes_back_hears_nothing_twice_but_the_end() -> None:
    steps = [
        job("j1"),
        job("j1", JobState.RUNNING, 1),
        job("j1", JobState.RUNNING, 2),
        job("j1", JobState.SUCCEEDED, 2),
    ]

    async def heard(left: list[Job], last: str | None) -> list[tuple[str, dict[str, Any]]]:
        world = World()
        # The door looks once to know that there is such a job.
        world.jobs.jobs[(SpaceId("main"), JobId("j1"))] = [left[0], *left]
        headers = {} if last is None else {"Last-Event-ID": last}
        async with world.client() as client:
            return events_of((await client.get("/v1/jobs/j1/events", headers=headers)).text)

    whole = await heard(list(steps), None)
    assert [one["done"] for _, one in whole] == [0, 1, 2, 2]
    assert len({id for id, _ in whole}) == 4
    for n in range(3):
        assert await heard(list(steps[n:]), whole[n][0]) == whole[n + 1 :], f"after event {n}"
    assert await heard([steps[3]], whole[2][0]) == whole[3:]
    assert await heard([steps[3]], whole[3][0]) == whole[3:], "the end is told to whoever asks"
    assert await heard(list(steps), "nonsense") == whole


def test_a_states_id_is_its_own() -> None:
    one = job("j1", JobState.RUNNING, 1)
    assert state_id(one) == state_id(one.model_copy())
    assert state_id(one) != state_id(one.model_copy(update={"warning": "x"}))
