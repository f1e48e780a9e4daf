"""Lost vectors: the reconciler finds them at two looks, and has them made again a job at a time."""

from collections.abc import Callable

import pytest

from services.ingestor.domain.lost import CHUNKS_IN_JOB, VERSIONS_IN_JOB, missing_vectors, share_of_one_job
from services.ingestor.flow.reconcile import CLOSE_LOOK_S, Reconciler
from services.shared.contracts.ids import VersionId
from tests.unit.ingestor.fake_housekeeping import BUILDING, SERVING, FakeHousekeeping, FakeStored
from tests.unit.ingestor.fakes import FakeBell, FakeClock

A, B = VersionId("a"), VersionId("b")


class Watch:
    """A reconciler over a space whose versions a and b have two chunks each."""

    def __init__(self) -> None:
        self.house, self.vectors, self.bell, self.clock = FakeHousekeeping(), FakeStored(), FakeBell(), FakeClock()
        self.house.live = {A: 2, B: 2}
        for version in (A, B):
            self.store(version, 2)
        self.flow = Reconciler(self.house, self.vectors, self.bell, self.clock, sweep_grace_s=900, mend_grace_s=30)
        self.look_at(0)

    def store(self, version: VersionId, chunks: int) -> None:
        self.vectors.put(SERVING, version, chunks)

    def look_at(self, seconds: float) -> list[list[VersionId]]:
        """Jobs made so far."""
        self.clock.now = seconds
        self.flow.look_for_lost_vectors()
        self.flow.mend_vectors()
        return [versions for _, versions in self.house.mended]


def test_a_healthy_space_is_counted_and_seldom_read() -> None:
    watch = Watch()
    assert watch.vectors.close_looks == 1, "at the start it is read, whatever the count says"
    for seconds in (60, 120, 180):
        assert watch.look_at(seconds) == []
    assert watch.vectors.close_looks == 1
    watch.look_at(CLOSE_LOOK_S)
    assert watch.vectors.close_looks == 2


def test_a_version_that_is_missing_twice_is_mended_and_rung_for() -> None:
    watch = Watch()
    watch.vectors.delete_versions(SERVING, [A])
    assert watch.look_at(60) == []
    assert watch.look_at(80) == []
    assert watch.look_at(91) == [[A]]
    assert watch.bell.rung == watch.house.noted == ["mend-1"]


def test_a_version_that_lacks_some_vectors_is_mended() -> None:
    watch = Watch()
    watch.store(B, 1)
    watch.look_at(60)
    assert watch.look_at(120) == [[B]]


def test_a_loss_that_left_overs_hide_from_the_count_is_found_in_the_end() -> None:
    watch = Watch()
    watch.vectors.delete_versions(SERVING, [A])
    watch.store(VersionId("orphan"), 5)
    assert watch.look_at(60) == watch.look_at(120) == []
    watch.look_at(CLOSE_LOOK_S)
    assert watch.look_at(CLOSE_LOOK_S + 60) == [[A]]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda watch: watch.store(A, 2),
        lambda watch: watch.house.live.pop(A),
        lambda watch: watch.house.working.add(A),
    ],
    ids=["it came back", "it was deleted", "a job is about it"],
)
def test_what_needs_no_mending_any_more_is_left_alone(meanwhile: Callable[[Watch], None]) -> None:
    watch = Watch()
    watch.vectors.delete_versions(SERVING, [A])
    watch.look_at(60)
    meanwhile(watch)
    assert watch.look_at(120) == watch.look_at(180) == []


def test_one_job_at_a_time_takes_a_share_of_a_large_loss() -> None:
    watch = Watch()
    watch.house.live = {VersionId(f"v{n:04d}"): 1 for n in range(VERSIONS_IN_JOB + 1)}
    watch.look_at(60)
    watch.house.busy = True
    assert watch.look_at(120) == [], "another mending is at work"
    watch.house.busy = False
    watch.flow.mend_vectors()
    watch.flow.mend_vectors()
    watch.flow.mend_vectors()
    assert [len(job) for _, job in watch.house.mended] == [VERSIONS_IN_JOB, 1]
    assert len({version for _, job in watch.house.mended for version in job}) == VERSIONS_IN_JOB + 1


def test_a_job_takes_about_its_measure_of_chunks_and_at_least_one_version() -> None:
    assert share_of_one_job({A: CHUNKS_IN_JOB * 5, B: 1}) == [A]
    assert share_of_one_job({A: 1, B: CHUNKS_IN_JOB}) == [A]
    assert share_of_one_job({A: 1, B: CHUNKS_IN_JOB - 1}) == [A, B]
    assert share_of_one_job({}) == []


def test_versions_without_chunks_or_with_more_vectors_lack_nothing() -> None:
    assert missing_vectors({A: 0, B: 2}, {B: 3}, set()) == {}


def test_an_index_that_is_not_level_lost_nothing() -> None:
    watch = Watch()
    watch.house.known = [SERVING, BUILDING]
    assert watch.look_at(60) == watch.look_at(120) == []
