"""Doors for calibrations: ordered and rung for, shown, forgotten."""

from services.shared.contracts.calibration import Calibration, CalibrationState, Logistic, Thresholds
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId
from services.shared.contracts.jobs import Queue
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import NOON
from tests.unit.gateway.test_gateway_doors import assert_problem

MAIN = SpaceId("main")


def fitted() -> Calibration:
    return Calibration(
        id="c1",
        index_id=IndexId("i1"),
        created_at=NOON,
        seq=4,
        chunks=90,
        risk=0.05,
        expected_risk=0.04,
        expected_coverage=0.8,
        asked={"answerable": 80},
        auroc={"left_out": 0.9},
        thresholds=Thresholds(answerable=0.6),
        answerability=Logistic(intercept=0.5, weights={"distance": -3.0}),
    )


async def test_a_calibration_is_a_job_that_is_rung_for() -> None:
    world = World()
    async with world.client() as client:
        response = await client.post("/v1/calibrations", json={"risk": 0.1}, headers={"Ragstone-Space": "other"})
    assert response.status_code == 202
    assert response.json() == {"job_id": "jc1"}
    assert response.headers["Location"] == "/v1/jobs/jc1"
    ((space, wanted),) = world.calibrations.wanted
    assert (space, wanted.risk, wanted.questions) == ("other", 0.1, 300)
    assert world.bell.rung == [(Queue.INDEX, "jc1")]


async def test_a_refusal_rings_for_nothing() -> None:
    world = World()
    world.calibrations.refusal = RagstoneError(ErrorCode.JOB_STATE_CONFLICT, "Job j1 calibrates this space already.")
    async with world.client() as client:
        assert_problem(await client.post("/v1/calibrations", json={}), 409, ErrorCode.JOB_STATE_CONFLICT)
        assert_problem(await client.post("/v1/calibrations", json={"risk": 1}), 422, ErrorCode.INVALID_REQUEST)
        assert_problem(await client.post("/v1/calibrations", json={"questions": 10}), 422, ErrorCode.INVALID_REQUEST)
    assert world.bell.rung == []


async def test_what_is_in_force_is_shown_and_forgotten() -> None:
    world = World()
    async with world.client() as client:
        assert (await client.get("/v1/calibrations")).json() == {"calibration": None, "stale": None}
        world.calibrations.states[MAIN] = CalibrationState(calibration=fitted(), stale="Much has changed.")
        shown = (await client.get("/v1/calibrations")).json()
        assert shown["calibration"]["thresholds"]["answerable"] == 0.6
        assert shown["stale"] == "Much has changed."
        for _ in range(2):
            assert (await client.delete("/v1/calibrations")).status_code == 204
        assert (await client.get("/v1/calibrations")).json()["calibration"] is None
