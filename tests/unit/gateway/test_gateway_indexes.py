"""Doors for indexes: ordered and rung for, switched at once or waited for, refused with the reason, removed."""

from services.gateway.flow.indexes import IndexFlow
from services.gateway.ports.indexes import Changed
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobState, Queue
from tests.unit.gateway.fake_index_book import FakeIndexBook, index_of
from tests.unit.gateway.fake_jobs import FakeJobs
from tests.unit.gateway.fakes import FakeBell, World
from tests.unit.gateway.messages import job
from tests.unit.gateway.test_gateway_doors import assert_problem

MAIN = SpaceId("main")
SERVING = Changed(index_of("i2", IndexPhase.SERVING), [])
LAGS = index_of("i2", IndexPhase.READY, job_id=JobId("j2"), lag=3)
WAITING = Changed(LAGS, [JobId("j2")])


class Clock:
    """Goes on by a second at each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def flow_over(book: FakeIndexBook, *states: JobState) -> tuple[IndexFlow, FakeBell]:
    """A flow that waits 30 looks, with a job that is in these states at its looks."""
    jobs, bell = FakeJobs(), FakeBell()
    jobs.jobs[MAIN, JobId("j2")] = [job("j2", state) for state in states]
    return IndexFlow(book=book, jobs=jobs, bell=bell, clock=Clock(), look_every_s=0), bell


async def test_an_index_is_a_job_that_is_rung_for() -> None:
    world = World()
    async with world.client() as client:
        response = await client.post(
            "/v1/indexes", json={"embedder": " e5 ", "promote": True}, headers={"Ragstone-Space": "other"}
        )
    assert response.status_code == 202
    assert response.headers["Location"] == "/v1/indexes/i2"
    assert (response.json()["state"], response.json()["job_id"]) == ("building", "j2")
    ((space, wanted),) = world.index_book.wanted
    assert (space, wanted.embedder, wanted.promote, wanted.query_prompt) == ("other", " e5 ", True, None)
    assert world.bell.rung == [(Queue.INDEX, "j2")]


async def test_a_name_that_says_nothing_is_refused() -> None:
    world = World()
    async with world.client() as client:
        for name in ("", "  ", "a\0b"):
            response = await client.post("/v1/indexes", json={"embedder": name})
            assert_problem(response, 422, ErrorCode.INVALID_REQUEST)
        sent = {"embedder": "e5", "query_prompt": "\0"}
        assert_problem(await client.post("/v1/indexes", json=sent), 422, ErrorCode.INVALID_REQUEST)
        sent = {"embedder": "e5", "prompt": "x"}
        assert_problem(await client.post("/v1/indexes", json=sent), 422, ErrorCode.INVALID_REQUEST)
    assert world.index_book.wanted == []


async def test_they_are_listed_and_shown() -> None:
    world = World()
    world.index_book.looks = [index_of("i1", IndexPhase.SERVING)]
    async with world.client() as client:
        listed = (await client.get("/v1/indexes")).json()
        assert [item["id"] for item in listed["items"]] == ["i1"]
        assert (listed["configured"], listed["next_cursor"]) == ("mini", None)
        assert (await client.get("/v1/indexes/i1")).json()["state"] == "serving"
        world.index_book.looks = []
        assert_problem(await client.get("/v1/indexes/i7"), 404, ErrorCode.INDEX_NOT_FOUND)


async def test_a_level_one_serves_at_once_with_or_without_a_body() -> None:
    world = World()
    world.index_book.promotions = [SERVING]
    async with world.client() as client:
        for body in (None, {}, {"force": True}):
            response = await client.post("/v1/indexes/i2/promote", json=body)
            assert (response.status_code, response.json()["state"]) == (200, "serving")
    assert world.index_book.asked == [("i2", False), ("i2", False), ("i2", True)]
    assert world.bell.rung == []


async def test_a_refusal_says_the_figures() -> None:
    world = World()
    refusal = RagstoneError(ErrorCode.INDEX_WORSE, "Index i2 is not promoted: ndcg@10 0.600 against 0.800")
    world.index_book.promotions = [refusal]
    async with world.client() as client:
        response = await client.post("/v1/indexes/i2/promote")
    assert_problem(response, 409, ErrorCode.INDEX_WORSE)
    assert "0.600" in response.json()["detail"]


async def test_rolling_back_promotes_the_one_that_served_before() -> None:
    world = World()
    async with world.client() as client:
        assert_problem(await client.post("/v1/indexes/rollback"), 409, ErrorCode.INDEX_STATE_CONFLICT)
        world.index_book.kept, world.index_book.promotions = IndexId("i1"), [SERVING]
        assert (await client.post("/v1/indexes/rollback")).status_code == 200
    assert world.index_book.asked == [("i1", False)]


async def test_removing_retires_it_and_rings() -> None:
    world = World()
    async with world.client() as client:
        response = await client.delete("/v1/indexes/i1")
    assert (response.status_code, response.json()["state"]) == (202, "retired")
    assert world.index_book.removed == ["i1"]
    assert world.bell.rung == [(Queue.INDEX, "j9")]


async def test_one_that_lags_is_waited_for() -> None:
    book = FakeIndexBook(promotions=[WAITING], looks=[LAGS, LAGS, index_of("i2", IndexPhase.SERVING)])
    flow, bell = flow_over(book, JobState.QUEUED, JobState.RUNNING)
    index = await flow.promote(MAIN, IndexId("i2"), force=False, request_id="r")
    assert index.state is IndexPhase.SERVING
    assert bell.rung == [(Queue.INDEX, "j2")]
    assert len(book.asked) == 1


async def test_after_the_wait_it_does_not_serve_yet() -> None:
    book = FakeIndexBook(promotions=[WAITING], looks=[LAGS])
    flow, _ = flow_over(book, JobState.RUNNING)
    index = await flow.promote(MAIN, IndexId("i2"), force=False, request_id="r")
    assert (index.state, index.lag) == (IndexPhase.READY, 3)


async def test_a_job_that_ended_as_the_wish_came_is_made_up_for() -> None:
    book = FakeIndexBook(promotions=[WAITING, SERVING], looks=[LAGS])
    flow, _ = flow_over(book, JobState.SUCCEEDED)
    index = await flow.promote(MAIN, IndexId("i2"), force=False, request_id="r")
    assert index.state is IndexPhase.SERVING
    assert len(book.asked) == 2


async def test_a_job_that_failed_ends_the_wait() -> None:
    book = FakeIndexBook(promotions=[WAITING], looks=[LAGS])
    flow, _ = flow_over(book, JobState.FAILED)
    index = await flow.promote(MAIN, IndexId("i2"), force=False, request_id="r")
    assert index.state is IndexPhase.READY
    assert len(book.asked) == 1
