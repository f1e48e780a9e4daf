"""Finishing a deletion: everything is taken out, and what does not answer keeps nothing else from being done."""

from typing import Any

import pytest

from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, JobState
from tests.unit.evaluation_report.fixture import evaluation
from tests.unit.ingestor.fakes import World

EVERYTHING = ["forget_postings", "discard", "empty_bodies", "forget_answers", "settle"]
DELETED: dict[str, Any] = {"version_ids": ["v1", "v2"], "document_id": "doc", "blobs": ["a" * 64]}


def cleaned(world: World, payload: dict[str, Any]) -> JobId:
    job_id = world.catalog.queue(JobKind.CLEANUP, payload)
    world.worker.answer(job_id)
    return job_id


def test_a_deletion_is_finished_everywhere() -> None:
    world = World()
    world.traces.batches = [JobId("b1")]
    job_id = cleaned(world, DELETED)
    assert world.state(job_id) is JobState.SUCCEEDED
    assert world.traces.said == [
        ("forget_postings", ["v1", "v2"]),
        ("discard", ["a" * 64]),
        ("empty_bodies", "doc"),
        ("forget_answers", "doc"),
        ("settle", None),
    ]
    assert world.bell.rung == ["b1"]


def test_a_job_of_an_earlier_release_names_versions_only() -> None:
    world = World()
    assert world.state(cleaned(world, {"version_ids": ["v1"]})) is JobState.SUCCEEDED
    assert [name for name, _ in world.traces.said] == ["forget_postings"]


@pytest.mark.parametrize(
    ("away", "code", "state"),
    [
        ("forget_postings", ErrorCode.RETRIEVER_UNAVAILABLE, JobState.SUCCEEDED),
        ("discard", ErrorCode.CATALOG_UNAVAILABLE, JobState.QUEUED),
        ("empty_bodies", ErrorCode.CATALOG_UNAVAILABLE, JobState.QUEUED),
        ("forget_answers", ErrorCode.QUEUE_UNAVAILABLE, JobState.QUEUED),
    ],
)
def test_what_does_not_answer_is_tried_again_and_stops_nothing_else(
    away: str, code: ErrorCode, state: JobState
) -> None:
    world = World()
    world.traces.away = {away: code}
    job_id = cleaned(world, DELETED)
    assert world.state(job_id) is state
    assert [name for name, _ in world.traces.said] == EVERYTHING


def test_a_log_that_is_still_read_is_settled_later() -> None:
    world = World()
    world.traces.settles = False
    assert world.state(cleaned(world, DELETED)) is JobState.QUEUED


def test_reports_are_made_anew_from_what_is_left() -> None:
    world = World()
    left = evaluation()
    world.traces.evaluation = lambda: left
    world.traces.outdated = 1
    assert world.state(cleaned(world, {"evaluation_ids": ["e1"]})) is JobState.SUCCEEDED
    [(markdown, html)] = world.traces.reports
    assert markdown.startswith("#")
    assert "<html" in html
    assert [value for _, value in world.traces.said] == ["e1", "e1"], "it was changed once meanwhile"


def test_an_evaluation_that_is_gone_needs_no_reports() -> None:
    world = World()
    assert world.state(cleaned(world, {"evaluation_ids": ["e1"]})) is JobState.SUCCEEDED
    assert world.traces.reports == []
