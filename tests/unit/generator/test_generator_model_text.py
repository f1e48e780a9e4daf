"""A raw stream becomes sentences with citations, however it is cut into pieces."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.model_text import SentenceCutter, Written


def whole(*pieces: str, passages: int = 2, cut_off: bool = False) -> list[Written]:
    """All sentences of a stream with their layout."""
    cutter = SentenceCutter(passages)
    out = [written for piece in pieces for written in cutter.feed(piece)]
    return out + cutter.finish(cut_off=cut_off)


def read(*pieces: str, passages: int = 2, cut_off: bool = False) -> list[Written]:
    """All sentences of a stream, their layout left out."""
    return [Written(one.text, one.cited) for one in whole(*pieces, passages=passages, cut_off=cut_off)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The dock opens at 05:45 [1].", [Written("The dock opens at 05:45.", (0,))]),
        ("The dock opens at 05:45. [1]", [Written("The dock opens at 05:45.", (0,))]),
        ("The dock opens at noon[1].", [Written("The dock opens at noon.", (0,))]),
        ("The dock opens at 05:45 [7].", [Written("The dock opens at 05:45.", ())]),
        ("The dock opens at 05:45 [0].", [Written("The dock opens at 05:45.", ())]),
        ("The dock opens at 05:45 [1, 9].", [Written("The dock opens at 05:45.", (0,))]),
        ("The dock opens at 05:45 [1][2][2].", [Written("The dock opens at 05:45.", (0, 1))]),
        ("The dock opens at 05:45 【1†source】.", [Written("The dock opens at 05:45.", (0,))]),
        ("Item arr[3] is the third entry [2].", [Written("Item arr[3] is the third entry.", (1,))]),
        ("One thing. [1] Another thing. [2]", [Written("One thing.", (0,)), Written("Another thing.", (1,))]),
        ("- One [1]\n- Two [2]", [Written("One", (0,)), Written("Two", (1,))]),
        ("[1] One thing.\n[2] Another thing.", [Written("One thing.", (0,)), Written("Another thing.", (1,))]),
        ("[1] One thing. [2] Another thing.", [Written("One thing.", (0,)), Written("Another thing.", (1,))]),
        ("- [1]: One thing\n- [2]: Another", [Written("One thing", (0,)), Written("Another", (1,))]),
        (
            "Two things:\n[1] One\n[2] Another",
            [Written("Two things:", ()), Written("One", (0,)), Written("Another", (1,))],
        ),
        ("She knows C# and .NET [1] .", [Written("She knows C# and .NET.", (0,))]),
        ("One thing [1].\n[2]", [Written("One thing.", (0,))]),
        ("[1]. [2]. [3].", []),
        ("今天下雨。[1] 明天晴。[2]", [Written("今天下雨。", (0,)), Written("明天晴。", (1,))]),
    ],
)
def test_markers(reply: str, expected: list[Written]) -> None:
    assert read(reply) == expected
    assert read(*reply) == expected


def test_a_sentence_leaves_as_soon_as_the_next_has_begun() -> None:
    cutter = SentenceCutter(1)
    assert cutter.feed("One thing.") == []
    assert cutter.feed(" [1") == []
    assert cutter.feed("] ") == []
    assert cutter.feed("T") == [Written("One thing.", (0,))]


def test_a_word_that_may_belong_to_an_abbreviation_is_waited_for() -> None:
    cutter = SentenceCutter(1)
    assert cutter.feed("It closes on 7. O") == []
    assert cutter.feed("ktober. T") == [Written("It closes on 7. Oktober.", ())]


def test_what_the_limit_cut_off_is_left_out() -> None:
    assert read("Whole one [1]. The second is no", cut_off=True) == [Written("Whole one.", (0,))]
    assert read("Whole one [1]. Whole two [2].", cut_off=True)[1:] == [Written("Whole two.", (1,))]


@pytest.mark.parametrize(
    "reply",
    [
        "<think>WRONG. It is [2].</think>\n\nRight one [1].",
        "WRONG thought that never opened\n</think>\nRight one [1].",
        "<think></think>Right one [1].",
        "Right one<think>WRONG</think> [1].",
    ],
)
def test_thoughts_never_show(reply: str) -> None:
    assert read(reply) == read(*reply) == [Written("Right one.", (0,))]


def test_an_open_thought_swallows_the_rest() -> None:
    assert read("<think>\nI should split this into") == []


def test_a_smaller_sign_is_not_held_for_ever() -> None:
    assert read("It holds for a <", " b [1].") == [Written("It holds for a < b.", (0,))]


REPLIES = [
    "<think>WRONG. [2]</think>Dr. Ek opened it in 1998. [1] Then arr[3] closed [2]. All of it, v2.1 too [1, 2]!",
    "[1] WRONG</think>\n\nDr. Ek opened it. [1] It closed at noon.\n[2] All of it is v2.1.",
    "- [1] Dr. Ek opened it in 1998.\n- [2] It closed. It opened [1, 2].\n\n[2]",
    "At 5.30 p.m., e.g. on Mondays, it opens [1].\n\n| Day | Open |\n|---|---|\n| Mon | 6:00 [1] |\n| Tue | 7:00 [2] |",
    "Run:\n\n```sh\nmake run. [1]\nx = arr[3]\n```\n\n1. One [1]\n2. Two. It is red [2].",
]


@given(st.sampled_from(REPLIES), st.lists(st.integers(0, 120), max_size=12))
def test_pieces_do_not_matter(reply: str, cuts: list[int]) -> None:
    marks = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    assert whole(*(reply[a:b] for a, b in itertools.pairwise(marks))) == whole(reply)


def test_layout_and_kinds_survive() -> None:
    reply = "Run:\n\n```sh\nx = arr[3]. [1]\n```\n\n- One [1]\n- Two. It is red [2].\n\n2. Three\n\n"
    reply += "| A | B |\n|---|---|\n| a | b | [1]"
    assert whole(reply) == [
        Written("Run:", ()),
        Written("```sh\nx = arr[3]. [1]\n```", (), "\n\n", "code"),
        Written("One", (0,), "\n\n"),
        Written("Two.", (), "\n- "),
        Written("It is red.", (1,)),
        Written("Three", (), "\n2. "),
        Written("| a | b", (0,), "\n\n", "row", ("A", "B")),
    ]


def test_a_claim_is_in_plain_words() -> None:
    assert Written("The **dock** opens, see [the page](https://a.example/t).", ()).claim == (
        "The dock opens, see the page (https://a.example/t)."
    )
    assert Written("Use `snake_case` names.", ()).claim == "Use snake_case names."
    assert Written("| Mon | 6:00", (), kind="row", header=("Day", "Opens")).claim == "Day: Mon, Opens: 6:00"


@given(st.lists(st.text(alphabet="<>/think ab.[]12【】†\n-", max_size=10), max_size=10))
def test_no_stream_breaks_it_and_no_tag_gets_through(pieces: list[str]) -> None:
    for written in read(*pieces):
        assert "<think>" not in written.text
        assert all(0 <= number < 2 for number in written.cited)
