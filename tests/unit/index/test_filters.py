"""Filters, read once for both searches."""

import pytest

from services.shared.contracts.search import Filters
from services.shared.index.filters import wanted, where


@pytest.mark.parametrize("filters", [None, Filters(), Filters(tags=[])])
def test_no_filter_sends_no_where(filters: Filters | None) -> None:
    assert wanted(filters).everything
    assert where(wanted(filters)) is None


def test_one_or_any_of() -> None:
    assert where(wanted(Filters(type="faq"))) == {"type": {"$in": ["faq"]}}
    assert where(wanted(Filters(document_id=["b", "a"]))) == {"document_id": {"$in": ["a", "b"]}}


def test_every_tag_is_asked_for() -> None:
    assert where(wanted(Filters(tags=["b", "a"], type="faq"))) == {
        "$and": [{"type": {"$in": ["faq"]}}, {"tags": {"$contains": "a"}}, {"tags": {"$contains": "b"}}]
    }


@pytest.mark.parametrize("filters", [Filters(type=[]), Filters(document_id=[], type="faq")])
def test_any_of_none_fits_nothing(filters: Filters) -> None:
    assert wanted(filters).nothing
    assert not wanted(filters).everything
