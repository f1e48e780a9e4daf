"""The live versions in memory follow a real catalog."""

import pytest

from services.shared.catalog import live_versions, spaces
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import ChunkId, chunk_id
from services.shared.contracts.search import Filters
from services.shared.index import live
from services.shared.index.filters import wanted
from services.shared.index.live import LiveVersions, Members

from .published import SPACE, publish, remove


def passing(versions: LiveVersions, **filters: str | list[str]) -> Members:
    return versions.passing(wanted(Filters.model_validate(filters)))


def test_filters_and_numbers(catalog: Catalog) -> None:
    versions = LiveVersions(catalog, SPACE)
    assert passing(versions) == passing(versions)
    assert (passing(versions).chunks, passing(versions).total, passing(versions).versions) == (0, 0, {})
    faq = publish(catalog, "d1", type="faq", tags=["red", "hot"], chunks=3)
    note = publish(catalog, "d2", type="note", tags=["red"], chunks=2)
    bare = publish(catalog, "d3", chunks=1)
    assert passing(versions).versions == {faq: 3, note: 2, bare: 1}
    assert passing(versions, type=["faq", "unknown"]).versions == {faq: 3}
    assert passing(versions, tags=["red"]).versions == {faq: 3, note: 2}
    assert passing(versions, tags=["red", "hot"]).versions == {faq: 3}
    assert passing(versions, document_id=["d3", "d9"]).versions == {bare: 1}
    assert passing(versions, document_id="d3", type="faq").versions == {}
    assert (passing(versions, type="note").chunks, passing(versions, type="note").total) == (2, 6)
    assert passing(versions, type="faq").holds(chunk_id(faq, 2))
    assert not passing(versions, type="faq").holds(chunk_id(note, 0))
    assert not passing(versions).holds(ChunkId("no id of ours"))


def test_the_same_filter_is_worked_out_once_until_something_changes(catalog: Catalog) -> None:
    versions = LiveVersions(catalog, SPACE)
    publish(catalog, "d1", type="faq")
    first = passing(versions, type="faq")
    assert passing(versions, type="faq") is first
    publish(catalog, "d2", type="faq")
    assert passing(versions, type="faq") is not first


def test_changes_are_followed(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CHANGES_AT_ONCE", 2)
    versions = LiveVersions(catalog, SPACE)
    old = publish(catalog, "d1", "old", type="faq")
    kept = publish(catalog, "d2")
    assert set(passing(versions).versions) == {old, kept}
    monkeypatch.setattr(live_versions, "all_live", lambda *_: pytest.fail("everything was read again"))
    new = publish(catalog, "d1", "new", type="note", chunks=4)
    assert passing(versions).versions == {kept: 2, new: 4}
    assert passing(versions, type="faq").versions == {}
    remove(catalog, "d2")
    remove(catalog, "d1")
    again = publish(catalog, "d1", "old", type="faq")
    more = [publish(catalog, f"m{n}") for n in range(5)]
    assert set(passing(versions).versions) == {again, *more}
    assert again == old


@pytest.mark.parametrize("way", ["far behind", "a gap in the log", "another catalog"])
def test_everything_is_read_again_where_the_log_does_not_lead(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    versions = LiveVersions(catalog, SPACE)
    publish(catalog, "d1")
    assert passing(versions).chunks == 2
    if way == "far behind":
        monkeypatch.setattr(live, "MORE_CHANGES_THAN", 1)
        publish(catalog, "d2")
        publish(catalog, "d3")
        assert passing(versions).chunks == 6
    elif way == "a gap in the log":
        with catalog.write() as tx:
            spaces.advance(tx, SPACE)
        publish(catalog, "d2")
        assert passing(versions).chunks == 4
    else:
        versions._at = live._Moment(99, {}, versions._at.passing) if versions._at else None
        assert passing(versions).chunks == 2
