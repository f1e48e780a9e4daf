"""Wide questions search deeper."""

import pytest

from services.retriever.domain.depth import choose_depth


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where was he born?", 5),
        ("Where did he learn about databases?", 7),  # over 30 characters
        ("Cats or dogs?", 7),  # one marker
        ("Compare Python and Go", 7),  # two markers
        ("Compare the difference of Python and Go", 10),  # three markers
        ("Which database did the team at the bakery choose last year in spring?", 7),  # over 60 counts two
        ("Which database did the team choose last year, and which queue was it?", 10),
        ("Was it slow? Why?", 7),
        ("What is the android's brand?", 5),  # words, not letters inside words
    ],
)
def test_depth_by_question(question: str, expected: int) -> None:
    assert choose_depth(question, 5).per_list == expected


def test_a_marker_counts_once_and_length_is_not_counted_twice() -> None:
    assert choose_depth("a and b and c and d", 5).score == 1
    assert choose_depth("x" * 31, 5).score == 1
    assert choose_depth("x" * 61, 5).score == 2


def test_never_less_than_asked_for_is_read_and_never_more_than_two_lists_judged() -> None:
    wide = choose_depth("Who?", 50)
    assert (wide.per_list, wide.judged, wide.candidates) == (50, 10, 50)
    narrow = choose_depth("Compare the difference of Python and Go", 5)
    assert (narrow.per_list, narrow.judged, narrow.candidates) == (10, 20, 20)
