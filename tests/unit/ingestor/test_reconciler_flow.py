"""The reconciler: lost messages are rung again, left-overs are swept only when surely nobody needs them."""

import threading

from services.ingestor.adapters.rounds import Step, go_round
from services.ingestor.domain.documents import VectorItem
from services.ingestor.flow.reconcile import Reconciler
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, VersionId, chunk_id
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fakes import FakeBell, FakeClock, FakeHousekeeping, FakeVectors


class Scene:
    def __init__(self, *versions: str) -> None:
        self.house, self.vectors, self.bell, self.clock = FakeHousekeeping(), FakeVectors(), FakeBell(), FakeClock()
        for version in versions:
            item = VectorItem(chunk_id(VersionId(version), 0), DocumentId("d"), VersionId(version), None, [], "fact")
            self.vectors.upsert(SPACE, [item], [[1.0]])
        self.flow = Reconciler(self.house, self.vectors, self.bell, self.clock, sweep_grace_s=900, mend_grace_s=30)

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
    scene.house.live = {VersionId("live"): 1}
    assert scene.sweep_at(0) == {"live", "orphan"}
    assert scene.sweep_at(899) == {"live", "orphan"}
    assert scene.sweep_at(901) == {"live"}


def test_a_version_that_was_needed_in_between_starts_anew() -> None:
    scene = Scene("back")
    scene.sweep_at(0)
    scene.house.live = {VersionId("back"): 1}
    scene.sweep_at(500)
    scene.house.live = {}
    assert scene.sweep_at(1000) == {"back"}
    assert scene.sweep_at(1900) == set()


def test_what_is_being_worked_on_is_left_alone() -> None:
    scene = Scene("staged")
    scene.house.working = {VersionId("staged")}
    scene.sweep_at(0)
    assert scene.sweep_at(5000) == {"staged"}
    scene.house.working, scene.house.batch = set(), True
    scene.sweep_at(9000)
    assert scene.sweep_at(18000) == {"staged"}, "a batch is at work, whose versions nobody knows"


def test_an_outdated_calibration_is_made_anew_once() -> None:
    scene = Scene()
    scene.flow.calibrate_again()
    assert scene.bell.rung == []
    scene.house.outdated = True
    scene.flow.calibrate_again()
    scene.flow.calibrate_again()
    assert scene.bell.rung == scene.house.noted == ["calibrate-1"]


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
