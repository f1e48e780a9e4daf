"""Forgetting a document: the receipt is whole, and what does not answer is left to a job that is rung for."""

from typing import Any

import pytest

from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Job, JobKind, JobState, Queue
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import job

TEXT = "text"


def holding() -> World:
    world = World()
    world.documents.hold("docs/a b.md", TEXT)
    return world


async def deleted(world: World) -> dict[str, Any]:
    await world.originals.put(TEXT.encode())
    async with world.client() as client:
        response = await client.delete("/v1/documents/docs%2Fa%20b.md")
    assert response.status_code == 200, response.text
    receipt: dict[str, Any] = response.json()
    return receipt


async def test_the_receipt_is_whole_when_everything_answers() -> None:
    world = holding()
    assert await deleted(world) == {
        "document_id": "docs/a b.md",
        "versions": 1,
        "chunks": 3,
        "vectors": 3,
        "postings": 3,
        "blobs": 1,
        "cached_answers": 2,
        "cancelled_jobs": [],
        "cleanup_job": None,
    }
    assert world.originals.kept == {}
    assert world.bell.rung == []
    assert world.documents.ended == ["c0"], "its clean-up job has nothing left to do"
    [asked] = world.forgetting.asked
    assert (asked.space, asked.versions) == (SpaceId("main"), [VersionId("v1")])


async def test_nothing_is_forgotten_twice() -> None:
    world = holding()
    await deleted(world)
    async with world.client() as client:
        again = await client.delete("/v1/documents/docs%2Fa%20b.md")
    assert (again.status_code, again.json()["code"]) == (404, ErrorCode.DOCUMENT_NOT_FOUND)
    assert len(world.forgetting.asked) == 1


@pytest.mark.parametrize("away", ["indexes", "answers", "bodies", "time for bodies", "settled", "taken"])
async def test_what_does_not_answer_is_left_to_the_clean_up_job(away: str) -> None:
    world = holding()
    world.forgetting.away = {away}
    world.forgetting.complete = away != "time for bodies"
    world.documents.settles = away != "settled"
    world.documents.taken = away == "taken"
    receipt = await deleted(world)
    assert receipt["cleanup_job"] == "c0"
    # Without Redis nobody can be rung for, and waiting for that would only hold the deletion up.
    assert world.bell.rung == ([] if away == "answers" else [(Queue.INGEST, "c0")])
    assert receipt["vectors"] == (0 if away == "indexes" else 3)
    assert receipt["cached_answers"] == (0 if away == "answers" else 2)
    assert receipt["blobs"] == 1, "what can be done is done"


async def test_batches_and_reports_that_go_on_without_it_are_rung_for() -> None:
    world = holding()
    world.forgetting.batches = [JobId("b7")]
    world.documents.reports_job = JobId("r1")
    assert (await deleted(world))["cleanup_job"] is None
    assert world.bell.rung == [(Queue.INGEST, "b7"), (Queue.INGEST, "r1")]


def of_kind(id: str, kind: JobKind, state: JobState) -> tuple[tuple[SpaceId, JobId], list[Job]]:
    return (SpaceId("main"), JobId(id)), [job(id, state).model_copy(update={"kind": kind})]


async def test_failed_jobs_are_retried_together_each_in_its_queue() -> None:
    world = World()
    world.jobs.jobs = dict(
        [
            of_kind("d1", JobKind.DOCUMENT, JobState.FAILED),
            of_kind("d2", JobKind.DOCUMENT, JobState.SUCCEEDED),
            of_kind("e1", JobKind.EVALUATION, JobState.FAILED),
        ]
    )
    async with world.client() as client:
        some = await client.post("/v1/jobs/retry", json={"kind": "evaluation"})
        every = await client.post("/v1/jobs/retry")
    assert some.json() == {"retried": 1, "skipped": 1}
    assert every.json() == {"retried": 2, "skipped": 1}
    assert world.bell.rung == [(Queue.INDEX, "e1"), (Queue.INGEST, "d1"), (Queue.INDEX, "e1")]


async def test_jobs_are_listed_by_kind_and_by_document() -> None:
    world = World()
    world.jobs.jobs = dict(
        [of_kind("d1", JobKind.DOCUMENT, JobState.FAILED), of_kind("b1", JobKind.BATCH, JobState.FAILED)]
    )
    async with world.client() as client:
        batches = await client.get("/v1/jobs?kind=batch&kind=cleanup")
        mine = await client.get("/v1/jobs", params={"document_id": "no such/one"})
    assert [one["id"] for one in batches.json()["items"]] == ["b1"]
    assert mine.json()["items"] == []
    assert mine.json()["counts"]["failed"] == 2, "counts are of all jobs"


async def test_a_document_that_a_batch_has_not_brought_in_yet_is_forgotten_all_the_same() -> None:
    world = World()
    world.forgetting.coming = {DocumentId("line 7")}
    world.forgetting.batches = [JobId("b1")]
    async with world.client() as client:
        response = await client.delete("/v1/documents/line%207")
        other = await client.delete("/v1/documents/line%208")
    assert response.status_code == 200, response.text
    receipt = response.json()
    assert (receipt["versions"], receipt["chunks"], receipt["cleanup_job"]) == (0, 0, None)
    assert (other.status_code, other.json()["code"]) == (404, "document_not_found")
    assert world.bell.rung == [(Queue.INGEST, "b1")], "its batch goes on without the line"
