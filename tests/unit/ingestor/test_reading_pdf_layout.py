"""Reading order, tables, letters: what the places of words say, without any file."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.domain.letters import as_read, is_right_to_left, resolved
from services.ingestor.domain.page_furniture import Page
from services.ingestor.domain.page_layout import Segment, lines_of, reading_order
from services.ingestor.domain.page_text import text_of


def segment(left: float, y: float, text: str, *, size: float = 10.0, width: float | None = None) -> Segment:
    return Segment(text, left, left + (width or 0.5 * size * len(text)), y, y + size, size)


def column(left: float, top: float, *lines: str) -> list[Segment]:
    return [segment(left, top - 12 * n, line) for n, line in enumerate(lines)]


PROSE = [f"line {n} of a column that is long enough" for n in range(6)]
OTHER = [f"word {n} of another one, just as long, too" for n in range(6)]


def ordered(segments: list[Segment], *, right_to_left: bool = False) -> list[str]:
    return [line.text for block in reading_order(segments, right_to_left) for line in block]


def test_columns_follow_each_other_between_what_spans_them() -> None:
    title, foot = (
        segment(60, 800, "A title over both columns of the page, wide", width=450),
        segment(200, 500, "Below both", width=200),
    )
    drawn = [foot, *column(300, 760, *OTHER), title, *column(60, 760, *PROSE)]
    assert ordered(drawn) == [title.text, *PROSE, *OTHER, foot.text]
    assert ordered(drawn, right_to_left=True) == [title.text, *OTHER, *PROSE, foot.text]


def test_a_narrow_column_that_stands_level_with_nothing_is_one() -> None:
    side = [segment(60, 755 - 17 * n, f"Note {n}") for n in range(4)]
    text = ordered([*side, *column(200, 760, *PROSE)])
    assert text == [*(one.text for one in side), *PROSE]


def test_cells_beside_each_other_are_no_columns() -> None:
    rows = [(f"Item {n}", f"{n} euros") for n in range(6)]
    drawn = [
        cell for n, (a, b) in enumerate(rows) for cell in (segment(60, 700 - 12 * n, a), segment(300, 700 - 12 * n, b))
    ]
    assert ordered(drawn) == [f"{a} {b}" for a, b in rows]


def test_a_raised_number_stays_in_its_line() -> None:
    drawn = [segment(60, 700, "an area of 30 km"), segment(141, 705, "2", size=6), segment(60, 688, "and more")]
    assert [line.text for line in lines_of(drawn)] == ["an area of 30 km2", "and more"]


places = st.floats(min_value=0, max_value=600, allow_nan=False).map(lambda x: round(x, 1))
pieces = st.builds(
    segment, places, places, st.text("abc ", min_size=1, max_size=30), size=st.sampled_from([6.0, 10.0, 18.0])
)


@given(st.lists(pieces, max_size=40), st.booleans())
def test_no_piece_is_lost_or_said_twice(drawn: list[Segment], right_to_left: bool) -> None:
    blocks = reading_order(drawn, right_to_left)
    cells = [cell for block in blocks for line in block for cell in line.cells]
    assert sorted(map(id, cells)) == sorted(map(id, drawn))


def test_a_piece_that_stands_level_with_the_end_of_columns_is_kept() -> None:
    beside = [segment(x, y, "a", size=size) for x, y, size in ((0, 0, 6), (0, 0, 18), (0, 2, 10), (13, 0, 6))]
    drawn = [*beside, segment(13, 2, "a", size=6), segment(13, 2, "a", size=18), segment(7, 0, "a", size=6)]
    assert sum(len(line.cells) for block in reading_order(drawn) for line in block) == len(drawn)


@given(st.lists(st.lists(pieces, max_size=15), max_size=5))
def test_places_of_pages_grow_and_lie_in_the_text(drawn: list[list[Segment]]) -> None:
    found = text_of([Page(n, segments) for n, segments in enumerate(drawn, start=1)])
    starts = [place.start for place in found.places]
    assert starts == sorted(set(starts))
    assert all(start < len(found.text) for start in starts)


def test_a_table_has_its_titles_above_it() -> None:
    titles = [segment(150, 724, "Offices and opening hours", width=200), segment(390, 724, "Since")]
    towns = [(f"Town {n}", "9", "17", f"19{n}0", "Ann") for n in range(1, 5)]
    rows = [("Place", "Opens", "Closes", "Year", "By"), *towns]
    cells = [segment(60 + 110 * c, 712 - 12 * r, cell) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    text = text_of([Page(1, [*titles, *cells])]).text
    assert "| Place | Opens | Closes | Year | By |\n|---|---|---|---|---|\n| Town 1 | 9 | 17 | 1910 | Ann |" in text
    assert text.index("Offices") < text.index("| Place")


def test_a_list_is_no_table() -> None:
    marks = [
        cell
        for n in range(4)
        for cell in (segment(60, 700 - 12 * n, "•", width=4), segment(80, 700 - 12 * n, f"item {n}"))
    ]
    assert text_of([Page(1, marks)]).text == "- item 0\n\n- item 1\n\n- item 2\n\n- item 3\n"


def test_a_table_of_contents_is_a_line_for_each_entry() -> None:
    lines = column(
        60, 700, "Notices . . . . . . . . . . . vii", "1.1 Roles . . . . . . . . . . 12", "Index ........... 99"
    )
    assert text_of([Page(1, lines)]).text == "Notices … vii\n\n1.1 Roles … 12\n\nIndex … 99\n"


def test_large_short_lines_are_headings_unless_the_text_is_made_of_them() -> None:
    body = column(60, 700, *[line + " and so on." for line in PROSE])
    found = text_of(
        [Page(1, [segment(60, 760, "On harbours", size=20), segment(60, 725, "Early days", size=13), *body])]
    )
    assert found.text.startswith("# On harbours\n\n## Early days\n\n")
    assert found.heading == "On harbours"
    slide = [segment(60, 760, "A large line of words", size=20), segment(60, 700, "small", size=10)]
    assert text_of([Page(1, slide)]).markdown is False


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["see https://", "example.org/a for it"], "see https://example.org/a for it"),
        (["in the years 1914–", "1918 they"], "in the years 1914–1918 they"),
        (["one of the state-of-the-", "art ferries"], "one of the state-of-the-art ferries"),
        (["the Anglo-", "Saxon one"], "the Anglo-Saxon one"),
        (["ein Schiff\u00ad", "fahrtsamt"], "ein Schifffahrtsamt"),
        (["ports - for", "example"], "ports - for example"),
        (["我们要检查", "这个文件"], "我们要检查这个文件"),
    ],
)
def test_lines_are_joined_as_their_words_ask(lines: list[str], text: str) -> None:
    segments = [segment(60, 700 - 12 * n, line, width=300) for n, line in enumerate(lines)]
    assert text_of([Page(1, segments)]).text == text + "\n"


def test_only_ligatures_and_shapes_are_normalised() -> None:
    assert resolved("eﬃcient ﬁle, 5 m², ½, ①, Ⅳ, ㎏, ﻻ") == "efficient file, 5 m², ½, ①, Ⅳ, ㎏, لا"
    assert resolved("\uf0b7 one") == "• one"


@given(st.text(st.characters(exclude_characters="".join(map(chr, [*range(0xFB00, 0xFDFC), *range(0xFE70, 0xFEFD)])))))
def test_other_letters_stay_as_they_are(text: str) -> None:
    assert resolved(text) == text or "•" in resolved(text)


@pytest.mark.parametrize(
    "text",
    [
        "السلام عليكم",
        "السعر 250 يورو",
        "חוק 12 משנת 1998",
        "hello שלום world",
        "كتاب ABC جديد",
        "plain words (and brackets)",
    ],
)
def test_drawn_letters_come_back_in_the_order_of_reading(text: str) -> None:
    assert as_read(list(drawn(text))) == text


def drawn(text: str) -> str:
    """How a line stands on paper, from left to right: the forward rule, for words of one direction each."""
    rtl = is_right_to_left(text)
    words = [word[::-1] if is_right_to_left(word) else word for word in text.split(" ")]
    if not rtl:
        return " ".join(words)
    return " ".join(reversed(words))


@given(st.text("אבגדה ابجد abc 123 .,-()", max_size=40))
def test_reading_loses_no_letter(text: str) -> None:
    assert sorted(as_read(list(text)).translate(dict.fromkeys(map(ord, "()")))) == sorted(
        text.translate(dict.fromkeys(map(ord, "()")))
    )


def test_marks_stay_behind_their_letters() -> None:
    # Drawn from left to right: the last letter first, a vowel over the first letter of the word.
    read = as_read([*"بيب", "ح", "\u064e"])
    assert read == "ح\u064eبيب"
    assert unicodedata.combining(read[1])
