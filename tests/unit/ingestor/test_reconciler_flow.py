"""The reconciler: lost messages are rung again, left-overs are swept only when surely nobody needs them."""

import threading
from collections.abc import Collection, Sequence

from services.ingestor.adapters.rounds import Step, go_round
from services.ingestor.domain.documents import VectorItem
from services.ingestor.flow.reconcile import Reconciler
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Queue
from tests.unit.ingestor.fakes import SPACE, FakeBell, FakeClock, FakeVectors


class FakeHousekeeping:
    def __init__(self) -> None:
        self.waiting = [JobId("a"), JobId("b")]
        self.noted: list[JobId] = []
        self.live: set[VersionId] = set()
        self.at_work: set[VersionId] | None = set()
        self.done: list[str] = []

    def reap(self) -> None:
        self.done.append("reap")

    def unrung(self) -> list[tuple[Queue, JobId, str]]:
        return [(Queue.INGEST, job, "") for job in self.waiting]

    def rung(self, job_ids: Sequence[JobId]) -> None:
        self.noted += job_ids

    def spaces(self) -> list[SpaceId]:
        return [SPACE]

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return self.live & set(versions)

    def versions_at_work(self, space: SpaceId) -> set[VersionId] | None:
        return self.at_work

    def discard_stale(self) -> None:
        self.done.append("discard")

    def sweep_blobs(self) -> None:
        self.done.append("blobs")

    def prune(self) -> None:
        self.done.append("prune")


class Scene:
    def __init__(self, *versions: str) -> None:
        self.house, self.vectors, self.bell, self.clock = FakeHousekeeping(), FakeVectors(), FakeBell(), FakeClock()
        for version in versions:
            item = VectorItem(f"{version}-00000", DocumentId("d"), VersionId(version), None, [], "fact")
            self.vectors.upsert(SPACE, [item], [[1.0]])
        self.flow = Reconciler(self.house, self.vectors, self.bell, self.clock, sweep_grace_s=900)

    def sweep_at(self, seconds: float) -> set[VersionId]:
        self.clock.now = seconds
        self.flow.sweep_vectors()
        return self.vectors.versions(SPACE)


def test_waiting_jobs_are_rung_and_noted() -> None:
    scene = Scene()
    scene.flow.ring_again()
    assert scene.bell.rung == scene.house.noted == ["a", "b"]


def test_a_ring_that_does_not_get_through_is_not_noted() -> None:
    scene = Scene()
    scene.bell.silent = True
    scene.flow.ring_again()
    assert scene.house.noted == []


def test_unused_vectors_go_after_the_grace_period_only() -> None:
    scene = Scene("live", "orphan")
    scene.house.live = {VersionId("live")}
    assert scene.sweep_at(0) == {"live", "orphan"}
    assert scene.sweep_at(899) == {"live", "orphan"}
    assert scene.sweep_at(901) == {"live"}


def test_a_version_that_was_needed_in_between_starts_anew() -> None:
    scene = Scene("back")
    scene.sweep_at(0)
    scene.house.live = {VersionId("back")}
    scene.sweep_at(500)
    scene.house.live = set()
    assert scene.sweep_at(1000) == {"back"}
    assert scene.sweep_at(1900) == set()


def test_what_is_being_worked_on_is_left_alone() -> None:
    scene = Scene("staged")
    scene.house.at_work = {VersionId("staged")}
    scene.sweep_at(0)
    assert scene.sweep_at(5000) == {"staged"}
    scene.house.at_work = None
    assert scene.sweep_at(9000) == {"staged"}, "a batch is at work, whose versions nobody knows"


def test_no_failing_step_ends_the_round() -> None:
    stop, ran = threading.Event(), []

    def broken() -> None:
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "the catalog is away")

    def worse() -> None:
        raise ZeroDivisionError

    def last() -> None:
        ran.append("last")
        if len(ran) == 3:
            stop.set()

    go_round([Step("a", 0, broken), Step("b", 0, worse), Step("c", 0, last)], stop, tick_s=0)
    assert ran == ["last"] * 3
