"""The reconciler: lost messages are rung again, left-overs are swept only when surely nobody needs them."""

import threading

from services.ingestor.adapters.rounds import Step, go_round
from services.ingestor.flow.reconcile import DAMAGE_GRACE_S, Reconciler
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId, VersionId
from services.shared.contracts.jobs import Queue
from tests.unit.ingestor.fake_housekeeping import BUILDING, SERVING, FakeHousekeeping, FakeStored
from tests.unit.ingestor.fakes import FakeBell, FakeClock

LIVE, ORPHAN = VersionId("live"), VersionId("orphan")


class Scene:
    def __init__(self, *versions: VersionId) -> None:
        self.house, self.vectors, self.bell, self.clock = FakeHousekeeping(), FakeStored(), FakeBell(), FakeClock()
        for version in versions:
            self.vectors.put(SERVING, version, 1)
        self.flow = Reconciler(self.house, self.vectors, self.bell, self.clock, sweep_grace_s=900, mend_grace_s=30)

    def sweep_at(self, seconds: float) -> set[VersionId]:
        self.clock.now = seconds
        self.flow.sweep_vectors()
        return set(self.vectors.held[SERVING.id])


def test_waiting_jobs_are_rung_and_noted() -> None:
    scene = Scene()
    scene.house.wait("a", "b")
    scene.flow.ring_again()
    assert scene.bell.rung == scene.house.noted == ["a", "b"]


def test_a_ring_that_does_not_get_through_is_not_noted() -> None:
    scene = Scene()
    scene.house.wait("a", "b")
    scene.bell.silent = True
    scene.flow.ring_again()
    assert scene.house.noted == []


def test_unused_vectors_go_after_the_grace_period_only() -> None:
    scene = Scene(LIVE, ORPHAN)
    scene.house.live = {LIVE: 1}
    assert scene.sweep_at(0) == {LIVE, ORPHAN}
    assert scene.sweep_at(899) == {LIVE, ORPHAN}
    assert scene.sweep_at(901) == {LIVE}


def test_each_index_is_swept_for_itself() -> None:
    scene = Scene(LIVE)
    scene.house.known = [SERVING, BUILDING]
    scene.vectors.put(BUILDING, ORPHAN, 3)
    scene.house.live = {LIVE: 1}
    scene.sweep_at(0)
    assert scene.sweep_at(901) == {LIVE}
    assert not scene.vectors.held[BUILDING.id]


def test_a_version_that_was_needed_in_between_starts_anew() -> None:
    scene = Scene(ORPHAN)
    scene.sweep_at(0)
    scene.house.live = {ORPHAN: 1}
    scene.sweep_at(500)
    scene.house.live = {}
    assert scene.sweep_at(1000) == {ORPHAN}
    assert scene.sweep_at(1900) == set()


def test_what_is_being_worked_on_is_left_alone() -> None:
    scene = Scene(ORPHAN)
    scene.house.working = {ORPHAN}
    scene.sweep_at(0)
    assert scene.sweep_at(5000) == {ORPHAN}
    scene.house.working, scene.house.batch = set(), True
    scene.sweep_at(9000)
    assert scene.sweep_at(18000) == {ORPHAN}, "a batch is at work, whose versions nobody knows"


def test_a_collection_is_made_anew_only_when_it_stays_unusable() -> None:
    scene = Scene(LIVE)
    scene.vectors.faults[SERVING.id] = "it measures by l2"
    for seconds in (0.0, 60.0, DAMAGE_GRACE_S - 1):
        scene.clock.now = seconds
        scene.flow.set_right()
    assert scene.vectors.dropped == []
    scene.clock.now = DAMAGE_GRACE_S
    scene.flow.set_right()
    assert scene.vectors.dropped == [SERVING.id]


def test_a_fault_that_passes_costs_nothing() -> None:
    scene = Scene(LIVE)
    for seconds, fault in ((0.0, True), (60.0, False), (130.0, True), (200.0, True)):
        scene.clock.now = seconds
        scene.vectors.faults = {SERVING.id: "a search fails"} if fault else {}
        scene.flow.set_right()
    assert scene.vectors.dropped == []


def test_indexes_that_lag_get_a_job_that_is_rung_for() -> None:
    scene = Scene()
    scene.house.behind = [(Queue.INDEX, JobId("follow-1"), "")]
    scene.flow.follow_changes()
    scene.flow.follow_changes()
    assert scene.bell.rung == scene.house.noted == ["follow-1"]


def test_a_retired_index_loses_its_collection_before_its_record() -> None:
    scene = Scene()
    scene.house.gone = [BUILDING]
    scene.flow.remove_retired()
    assert (scene.vectors.dropped, scene.house.gone) == ([BUILDING.id], [])


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
