"""Sentences: exact spans, Markdown, abbreviations, scripts without spaces."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.sentences import split


def cut(text: str) -> list[str]:
    """The sentences' texts."""
    return [text[one.start : one.end] for one in split(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (
            "Dr. Ek uses node.js v2.1 and 3.5 g, e.g. daily. Then rest.",
            ["Dr. Ek uses node.js v2.1 and 3.5 g, e.g. daily.", "Then rest."],
        ),
        ("The U.S. Navy sails. He left the U.S. The end.", ["The U.S. Navy sails.", "He left the U.S.", "The end."]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ('"Why?" he asked. Nobody knew.', ['"Why?" he asked.', "Nobody knew."]),
        ("It opens again. tidegate needs it.", ["It opens again.", "tidegate needs it."]),
        ("See No. 5 and fig. 3 first. No. That is all.", ["See No. 5 and fig. 3 first.", "No.", "That is all."]),
        ("今天下雨。明天晴！好", ["今天下雨。", "明天晴！", "好"]),
        ("Er kam am 3. Mai an. Gut.", ["Er kam am 3. Mai an.", "Gut."]),
        ("J. R. Tarkwell wrote it. Done.", ["J. R. Tarkwell wrote it.", "Done."]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("soft\nwrapped line. Next\none.", ["soft\nwrapped line.", "Next\none."]),
    ],
)
def test_prose(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_list_items_are_sentences_without_their_markers() -> None:
    text = "Intro:\n- first thing\n- [x] second. More of it\n  going on\n10. tenth\n* star"
    assert cut(text) == ["Intro:", "first thing", "second.", "More of it\n  going on", "tenth", "star"]


def test_headings_are_no_sentences() -> None:
    assert cut("# Top\nUnder it.\n\nSetext\n======\nBody.\n### Deep ###\nEnd.") == ["Under it.", "Body.", "End."]


def test_a_table_row_is_a_sentence_and_its_header_is_not() -> None:
    text = "Before.\n\n| Version | Date |\n|---------|:----:|\n| 2.1.4 | 7 Oct. 2025 |\n| 2.0.0 | 3 June |\nAfter."
    rows = [one for one in split(text) if one.kind == "row"]
    assert [text[one.start : one.end] for one in rows] == ["2.1.4 | 7 Oct. 2025", "2.0.0 | 3 June"]
    assert rows[0].header == ("Version", "Date")
    assert cut(text)[-1] == "After."


def test_a_repeated_header_before_the_passage_gives_columns_but_no_sentence() -> None:
    lead = "| Version | Date |\n|---|---|\n"
    (row,) = split(f"{lead}| 1 | May |", after=len(lead))
    assert row.header == ("Version", "Date")


def test_a_fenced_block_is_one_unit_and_its_comments_no_headings() -> None:
    text = "Use it:\n\n```python\n# install. then run\nx = 1.\n\ny = 2\n```\nDone."
    assert cut(text) == ["Use it:", "```python\n# install. then run\nx = 1.\n\ny = 2\n```", "Done."]
    assert cut("~~~\nnever closed. ever") == ["~~~\nnever closed. ever"]


def test_quotation_markers_stay_outside() -> None:
    assert cut("> one. Two\n\n> three") == ["one.", "Two", "three"]


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                "# Head",
                "- item. more",
                "1. x",
                "| a | b |",
                "|---|---|",
                "```",
                "> q",
                "---",
                "===",
                "Dr. No.",
                "好。他",
                " \t",
            ]
        ),
        st.text(alphabet="abcÄ 。.!?\"')(-*_>|`#~1\t", max_size=30),
        st.text(max_size=30),
    ),
    max_size=12,
).map("\n".join)


@given(LINES)
def test_spans_are_in_order_disjoint_inside_and_not_blank(text: str) -> None:
    end = 0
    for one in split(text):
        assert end <= one.start < one.end <= len(text)
        assert re.search(r"\w", text[one.start : one.end])
        assert text[one.start : one.end] == text[one.start : one.end].strip("\n ")
        end = one.end


@given(st.lists(st.sampled_from(
    ["Plain words. More of them!", "- item one. two", "> quoted. text", "3) third", "* a *b* c", "她来了。好", "x = 1",
     "Mr. U.S. No. 5."]
), max_size=10), st.sampled_from(["\n", "\n\n"]))  # fmt: skip
def test_every_word_outside_of_markers_is_in_a_sentence(lines: list[str], joint: str) -> None:
    text = joint.join(lines)
    covered = {at for one in split(text) for at in range(one.start, one.end)}
    markers = {at for found in re.finditer(r"(?m)^\d+\)", text) for at in range(found.start(), found.end())}
    missed = [at for at, char in enumerate(text) if re.match(r"\w", char) and at not in covered | markers]
    assert not missed


def test_items_know_their_mark_and_rows_where_their_header_stands() -> None:
    text = "Prices:\n\n- One. More of it.\n2. Two.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    found = split(text)
    assert [one.mark for one in found] == ["", "-", "", "1.", ""]
    start, end = found[-1].header_at
    assert text[start:end] == "a | b"
