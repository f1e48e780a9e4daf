"""Where in its original a stretch of text stands."""

from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.places import Place, place_of, places_within

PAGES = [Place(start=0, label="page 1"), Place(start=100, label="page 2"), Place(start=200, label="page 3")]


def test_a_stretch_is_named_by_where_it_begins_and_ends() -> None:
    assert place_of(PAGES, 0, 100) == "page 1"
    assert place_of(PAGES, 100, 101) == "page 2"
    assert place_of(PAGES, 99, 101) == "page 1 to page 2"
    assert place_of(PAGES, 50, 250) == "page 1 to page 3"


def test_what_stands_before_the_first_place_has_none() -> None:
    later = [Place(start=10, label="row 1")]
    assert place_of(later, 0, 10) is None
    assert place_of(later, 0, 20) is None
    assert place_of([], 0, 5) is None


@given(st.lists(st.integers(0, 60), unique=True), st.integers(0, 60), st.integers(1, 30))
def test_a_cut_piece_knows_of_itself_what_the_whole_knows_of_it(starts: list[int], start: int, length: int) -> None:
    places = [Place(start=at, label=f"row {at}") for at in sorted(starts)]
    end = start + length
    within = places_within(places, start, end)
    assert all(start <= place.start < end for place in within)
    for a in range(start, end):
        for b in range(a + 1, end + 1):
            assert place_of(within, a, b) == place_of(places, a, b)
