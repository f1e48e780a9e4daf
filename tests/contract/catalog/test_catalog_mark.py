"""What tells two standings of a space apart, read in one statement."""

import time

from services.shared.catalog import calibrations, indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.standing import Mark, mark
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later
from tests.contract.catalog.test_catalog_calibrations import INDEX, SPEC, fitted


def test_any_change_makes_another_one(catalog: Catalog) -> None:
    seen: list[Mark] = []

    def look() -> None:
        with catalog.read() as tx:
            seen.append(mark(tx, SPACE))
            assert mark(tx, OTHER) == Mark(0, None, None)

    look()
    with catalog.write() as tx:
        ingest(tx, "d0", "one")
    look()
    with catalog.write() as tx:
        indexes.create(tx, SPACE, id=INDEX, embedder=SPEC, now=NOW)
    look()
    with catalog.write() as tx:
        assert calibrations.store(tx, SPACE, fitted())
    look()
    with catalog.write() as tx:
        assert calibrations.store(tx, SPACE, fitted().model_copy(update={"created_at": later(1)}))
    look()
    with catalog.write() as tx:
        ingest(tx, "d0", "two")
    look()
    assert len(set(seen)) == len(seen) == 6
    with catalog.write() as tx:
        assert calibrations.forget(tx, SPACE, INDEX)
    look()
    assert seen[-1] == Mark(seen[-2].seq, INDEX, None)


def test_it_costs_less_than_a_millisecond(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "d0", "one")
        indexes.create(tx, SPACE, id=INDEX, embedder=SPEC, now=NOW)
    took = []
    for _ in range(200):
        began = time.perf_counter()
        with catalog.read() as tx:
            mark(tx, SPACE)
        took.append(time.perf_counter() - began)
    assert sorted(took)[len(took) // 2] < 0.005
