"""Words at their places, and which of them are one word."""

import pytest

from services.generator.domain import terms


def test_tokens_keep_their_place_and_meet_in_their_stems() -> None:
    text = "Juno's boats grew; she kept rowing."
    found = terms.tokens(text)
    assert [text[one.start : one.end] for one in found] == [one.written for one in found]
    assert [one.stem for one in found if not one.stop] == ["juno", "boat", "grow", "keep", "row"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("boat", "boat", 1.0), ("foundat", "foundation", 0.8), ("release", "releas", 0.8), ("port", "part", 0.0)],
)
def test_akin(one: str, other: str, expected: float) -> None:
    assert terms.akin(one, other) == terms.akin(other, one) == expected
