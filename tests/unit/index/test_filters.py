"""Filters, read once for both searches."""

import pytest

from services.shared.contracts.search import Filters
from services.shared.index.filters import stored, wanted, where


@pytest.mark.parametrize("filters", [None, Filters(), Filters(tags=[])])
def test_no_filter_sends_no_where(filters: Filters | None) -> None:
    assert wanted(filters).everything
    assert where(wanted(filters)) is None


def test_one_or_any_of() -> None:
    assert where(wanted(Filters(type="faq"))) == {"type": {"$in": sorted(["faq", stored("faq")])}}
    assert where(wanted(Filters(document_id=["b", "a"]))) == {"document_id": {"$in": ["a", "b"]}}


def test_every_tag_is_asked_for() -> None:
    def tagged(tag: str) -> dict[str, object]:
        return {"$or": [{"tags": {"$contains": tag}}, {"tags": {"$contains": stored(tag)}}]}

    assert where(wanted(Filters(tags=["b", "a"], type="faq"))) == {
        "$and": [{"type": {"$in": sorted(["faq", stored("faq")])}}, tagged("a"), tagged("b")]
    }


def test_what_is_stored_of_a_word_does_not_hold_it() -> None:
    assert "faq" not in stored("faq")
    assert stored("faq") == stored("faq") != stored("FAQ")


@pytest.mark.parametrize("filters", [Filters(type=[]), Filters(document_id=[], type="faq")])
def test_any_of_none_fits_nothing(filters: Filters) -> None:
    assert wanted(filters).nothing
    assert not wanted(filters).everything


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        (Filters(), True),
        (Filters(type="faq"), True),
        (Filters(type=["note", "faq"]), True),
        (Filters(type="note"), False),
        (Filters(type=[]), False),
        (Filters(document_id="d1"), True),
        (Filters(document_id=["d2"]), False),
        (Filters(tags=["red"]), True),
        (Filters(tags=["red", "hot"]), True),
        (Filters(tags=["red", "cold"]), False),
        (Filters(type="faq", tags=["red"], document_id="d2"), False),
    ],
)
def test_a_described_document_fits_or_not(filters: Filters, fits: bool) -> None:
    assert wanted(filters).fits("d1", "faq", ["hot", "red"]) is fits


def test_a_document_without_a_type_fits_no_type() -> None:
    assert wanted(Filters(tags=[])).fits("d1", None, [])
    assert not wanted(Filters(type="faq")).fits("d1", None, [])
