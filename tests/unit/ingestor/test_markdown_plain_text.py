"""Markdown as plain words: what is embedded and tokenised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.domain.plain_text import plain


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("See [the manual](https://x.example/a_(b)).", "See the manual."),
        ("![A pump](img/p.png) stands here", "A pump stands here"),
        ("**bold**, *thin*, ~~gone~~ and __strong__", "bold, thin, gone and strong"),
        ("keep snake_case_name and 2 * 3 * 4", "keep snake_case_name and 2 * 3 * 4"),
        ("run `pip install a_b*c` now", "run pip install a_b*c now"),
        ("<b>Hi</b> <!-- hidden --> there", "Hi there"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("- one\n- [x] two\n> three", "one\ntwo\nthree"),
        ("| A | B |\n|---|:-:|\n| 1 | 2 |", "A B\n1 2"),
        ("```py\n# note\nx = a_b * 2\n```", "# note\nx = a_b * 2"),
        ("[ref]: https://x.example 'T'\nText [a][ref].", "Text a."),
        ("Fish &amp; chips \\*now\\*", "Fish & chips *now*"),
        ("<https://x.example/y>", "https://x.example/y"),
        ("C++ and .NET 5.0, #hashtag, issue #12", "C++ and .NET 5.0, #hashtag, issue #12"),
    ],
)
def test_marks_go_and_words_stay(markdown: str, expected: str) -> None:
    assert plain(markdown) == expected


@given(st.text(alphabet="ab *_`[]()!<>|\\#-~\n&;", max_size=200))
def test_it_never_fails_and_keeps_every_letter_of_plain_runs(text: str) -> None:
    found = plain(text)
    assert found == found.strip()
    assert "\x00" not in found
