"""Where in its original a stretch of extracted text stands: a page, a row of a sheet, a part of an e-mail."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from pydantic import Field

from services.shared.contracts.base import Response

PLACE_MAX = 200
"""Longest label, characters."""


class Place(Response):
    """From ``start`` on, until the next place begins, the text stands at ``label``."""

    start: int = Field(description="Offset in the extracted text, Unicode code points")
    label: str = Field(description="For people: page 3; sheet Prices, row 12; attachment offer.pdf, page 2")


def places_within(places: Sequence[Place], start: int, end: int) -> list[Place]:
    """Those of the places (by their starts) that cover ``start`` to ``end``; the first one begins at ``start``.

    It looks at those places only: a sheet has thousands, and every chunk asks.
    """
    first = bisect_right(places, start, key=_start)
    inside = places[first : bisect_left(places, end, lo=first, key=_start)]
    return [Place(start=start, label=places[first - 1].label), *inside] if first else list(inside)


def place_of(places: Sequence[Place], start: int, end: int) -> str | None:
    """How a citation calls the stretch: the place where it begins, and where it ends if that is another one."""
    covering = places_within(places, start, end)
    if not covering or covering[0].start > start:
        return None
    first, last = covering[0].label, covering[-1].label
    return first if first == last else f"{first} to {last}"


def _start(place: Place) -> int:
    return place.start
