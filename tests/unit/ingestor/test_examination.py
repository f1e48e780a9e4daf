"""An examination: every difference between the stores and the catalog is told, and put right when asked to."""

import pytest

from services.ingestor.domain.differences import Difference
from services.ingestor.flow.examine import Examination
from services.ingestor.ports.housekeeping import LostOriginal
from services.shared.contracts.ids import VersionId
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fake_housekeeping import BUILDING, SERVING, FakeHousekeeping, FakeKeywords, FakeStored
from tests.unit.ingestor.fakes import FakeBell

A, B, OLD = VersionId("a"), VersionId("b"), VersionId("old")


class Scene:
    """A space whose versions a and b have two chunks each, and all their vectors."""

    def __init__(self) -> None:
        self.house, self.vectors, self.keywords = FakeHousekeeping(), FakeStored(), FakeKeywords()
        self.bell = FakeBell()
        self.house.live = {A: 2, B: 2}
        for version in (A, B):
            self.vectors.put(SERVING, version, 2)

    def look(self, *, repair: bool) -> list[Difference]:
        parts = (self.house, self.vectors, self.keywords, self.bell)
        return list(Examination(*parts, repair=repair).differences())


def test_stores_that_agree_differ_in_nothing() -> None:
    assert Scene().look(repair=False) == Scene().look(repair=True) == []


def test_without_repair_nothing_is_touched() -> None:
    scene = Scene()
    scene.vectors.put(SERVING, A, 1)
    scene.vectors.put(SERVING, OLD, 3)
    scene.house.gone = [BUILDING]
    scene.house.wait("j")
    scene.keywords.differs = (1, 0)
    found = scene.look(repair=False)
    assert [one.store for one in found] == ["jobs", "vectors", "vectors", "vectors", "keywords"]
    assert not any(one.repaired for one in found)
    assert (scene.house.mended, scene.vectors.dropped, scene.bell.rung, scene.house.done) == ([], [], [], [])
    assert OLD in scene.vectors.held[SERVING.id]


def test_lost_and_unowned_vectors_are_told_with_their_numbers_and_put_right() -> None:
    scene = Scene()
    scene.vectors.put(SERVING, A, 1)
    scene.vectors.put(SERVING, OLD, 3)
    lost, unowned = scene.look(repair=True)
    assert (lost.found, lost.repaired) == ("1 live chunks lack their vector in ragstone-i1", True)
    assert (unowned.found, unowned.repaired) == ("3 vectors in ragstone-i1 that no live chunk owns", True)
    assert scene.house.mended == [(SERVING.id, [A])]
    assert scene.bell.rung == scene.house.noted == ["mend-1"]
    assert set(scene.vectors.held[SERVING.id]) == {A, B}


def test_a_mending_begins_at_once_although_one_failed_and_only_one_at_a_time() -> None:
    scene = Scene()
    scene.vectors.put(SERVING, A, 1)
    scene.house.failed_lately = True
    (lost,) = scene.look(repair=True)
    assert (lost.repaired, scene.bell.rung) == (True, ["mend-1"])
    scene.house.busy = True
    (lost,) = scene.look(repair=True)
    assert (lost.repair, scene.bell.rung) == ("a job is at it already", ["mend-1"])


def test_what_is_under_way_is_no_difference() -> None:
    scene = Scene()
    scene.house.known = [SERVING, BUILDING]
    scene.house.working = {A, OLD}
    scene.vectors.put(SERVING, A, 1)
    scene.vectors.put(SERVING, OLD, 1)
    assert scene.look(repair=True) == []


def test_a_collection_that_cannot_be_used_is_made_anew() -> None:
    scene = Scene()
    scene.vectors.faults[SERVING.id] = "it measures by 'l2' and not by 'cosine'"
    unusable, lost = scene.look(repair=True)
    assert "measures by 'l2'" in unusable.found
    assert lost.found.startswith("4 live chunks")
    assert (scene.vectors.dropped, scene.house.mended) == ([SERVING.id], [(SERVING.id, [A, B])])


def test_retired_collections_go_and_those_of_others_stay() -> None:
    scene = Scene()
    scene.house.gone = [BUILDING]
    scene.vectors.foreign = ["ragstone-i1", "ragstone-somebody"]
    retired, stray = scene.look(repair=True)
    assert retired.repaired
    assert "ragstone-somebody" in stray.found
    assert not stray.repaired
    assert (scene.vectors.dropped, scene.house.gone) == ([BUILDING.id], [])


def test_a_keyword_index_that_differs_is_built_again() -> None:
    scene = Scene()
    scene.keywords.differs = (2, 1)
    (found,) = scene.look(repair=True)
    assert "lacks 2 live chunks and holds 1 that are not live" in found.found
    assert scene.keywords.forgotten == [SPACE]


def test_an_original_that_is_gone_is_named_and_cannot_be_made_again() -> None:
    scene = Scene()
    scene.house.originals_gone = [LostOriginal(f"d{n}.md", "0" * 64) for n in range(5)]
    (found,) = scene.look(repair=True)
    assert "5 live documents" in found.found
    assert "d0.md, d1.md, d2.md, …" in found.found
    assert not found.repaired


@pytest.mark.parametrize(("kind", "store"), [("reap", "jobs"), ("discard", "catalog"), ("blobs", "originals")], ids=str)
def test_what_a_sweep_finds_is_told(kind: str, store: str) -> None:
    scene = Scene()
    scene.house.counts[kind] = 3
    (found,) = scene.look(repair=True)
    assert (found.store, found.repaired, found.found[0]) == (store, True, "3")


def test_a_bell_that_is_silent_repairs_nothing() -> None:
    scene = Scene()
    scene.house.wait("j")
    scene.bell.silent = True
    (found,) = scene.look(repair=True)
    assert not found.repaired
    assert scene.house.noted == []
