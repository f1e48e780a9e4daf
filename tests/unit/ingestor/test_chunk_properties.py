"""What holds of the chunks of every document, over made-up files of every kind."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ingestor.domain.blocks import markdown_blocks, paragraph_blocks
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Chunk, Extracted
from services.ingestor.domain.graphemes import CLUSTER_MAX, between_characters, inside_character
from services.ingestor.domain.packing import says, with_lone_headings
from services.ingestor.domain.plain_text import plain
from services.shared.contracts.places import Place, places_within
from tests.unit.ingestor.chunk_material import ANY_LETTERS, DOCUMENTS, Part, text_of, tokens

regex = pytest.importorskip("regex", reason="the independent judge of grapheme clusters is not installed")

LIMITS = st.sampled_from([Limits(150, 256), Limits(20, 48), Limits(40, 64)])
TEXTS = DOCUMENTS.map(text_of) | ANY_LETTERS
thorough = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def characters(text: str) -> set[int]:
    """Where characters begin, as a reader sees them, by another library."""
    return {found.start() for found in regex.finditer(r"\X", text)} | {len(text)}


def stretches_left_out(text: str, chunks: Sequence[Chunk]) -> list[tuple[int, int]]:
    edges = [0, *(edge for chunk in chunks for edge in (chunk.start, chunk.end)), len(text)]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if text[start:end].strip()]


@thorough
@given(text=TEXTS, markdown=st.booleans(), limits=LIMITS)
def test_chunks_are_exact_in_order_apart_and_within_the_limit(text: str, markdown: bool, limits: Limits) -> None:
    extracted = Extracted(text, markdown)
    chunks = cut(extracted, "T", limits, tokens)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    at = 0
    for chunk, count in zip(chunks, tokens([chunk.search_text for chunk in chunks]), strict=True):
        assert chunk.text[chunk.lead :] == text[chunk.start : chunk.end]
        assert at <= chunk.start < chunk.end
        at = chunk.end
        assert says(text, chunk.start, chunk.end, markdown=False)
        assert count <= limits.max_tokens or chunk.end - chunk.start < 2
        assert chunk.search_text.strip()
    assert chunks == cut(extracted, "T", limits, tokens)


@thorough
@given(text=TEXTS, markdown=st.booleans(), limits=LIMITS)
def test_nothing_that_a_reader_sees_is_left_out(text: str, markdown: bool, limits: Limits) -> None:
    chunks = cut(Extracted(text, markdown), "T", limits, tokens)
    blocks = markdown_blocks(text) if markdown else paragraph_blocks(text)
    headings = {block.start: block for block in blocks if block.kind == "heading"}
    carried = " ".join(f"{chunk.section} {chunk.text}" for chunk in chunks)
    for start, end in stretches_left_out(text, chunks):
        for block in blocks:
            first, last = max(start, block.start), min(end, block.end)
            if first >= last or not says(text, first, last, markdown=markdown):
                continue
            assert block.start in headings, text[first:last]
            if chunks:
                assert block.section in carried or plain(text[block.start : block.end]) in carried


@thorough
@given(text=TEXTS, markdown=st.booleans(), limits=LIMITS)
def test_no_cut_falls_inside_of_a_character(text: str, markdown: bool, limits: Limits) -> None:
    whole = characters(text)
    for chunk in cut(Extracted(text, markdown), "T", limits, tokens):
        for at in (chunk.start, chunk.end):
            beside = text[max(0, at - 1) : at + 1]
            assert at in whole or beside != "".join(beside.split()), (text[at - 3 : at], text[at : at + 3])


@thorough
@given(parts=DOCUMENTS, limits=LIMITS)
def test_only_headings_open_sections_and_no_chunk_is_a_heading_alone(parts: list[Part], limits: Limits) -> None:
    text = text_of(parts)
    named = {plain(part.heading) for part in parts if part.heading}
    chunks = cut(Extracted(text, markdown=True), "T", limits, tokens)
    for chunk in chunks:
        assert set(chunk.section.split(" > ")) <= named | {""}
    blocks, _ = with_lone_headings(text, markdown_blocks(text), limits.words)
    for chunk in chunks:
        held = [block for block in blocks if block.start < chunk.end and chunk.start < block.end]
        assert any(block.kind != "heading" for block in held), chunk.text


@thorough
@given(parts=DOCUMENTS)
def test_rows_of_a_table_stay_whole_and_know_their_columns(parts: list[Part]) -> None:
    text = text_of(parts)
    for chunk in cut(Extracted(text, markdown=True), "T", Limits(60, 256), tokens):
        for line in chunk.text[chunk.lead :].splitlines():
            if re.match(r"\| v\d+\.0 ", line):
                width = len(re.findall(r"v\d+\.\d+", line))
                assert line.endswith("|")
                assert all(f"name {n} |" in chunk.text for n in range(width))


@thorough
@given(text=TEXTS, gaps=st.lists(st.integers(1, 60), max_size=20), markdown=st.booleans(), limits=LIMITS)
def test_chunks_know_where_they_stand_in_the_original(
    text: str, gaps: list[int], markdown: bool, limits: Limits
) -> None:
    starts = [sum(gaps[:n]) - 1 for n in range(1, len(gaps) + 1)]
    places = [Place(start=start, label=f"page {n}") for n, start in enumerate(starts)]
    for chunk in cut(Extracted(text, markdown, places=places), "T", limits, tokens):
        assert chunk.places == places_within(places, chunk.start, chunk.end)
        for place in chunk.places:
            assert chunk.start <= place.start < chunk.end
            assert place.label == [one.label for one in places if one.start <= place.start][-1]


@given(
    starts=st.lists(st.integers(0, 50), max_size=20).map(sorted), span=st.tuples(st.integers(0, 60), st.integers(0, 60))
)
def test_places_are_found_as_by_looking_at_each(starts: list[int], span: tuple[int, int]) -> None:
    places = [Place(start=start, label=f"row {n}") for n, start in enumerate(starts)]
    start, end = span
    before = [place for place in places if place.start <= start]
    expected = [Place(start=start, label=before[-1].label)] if before else []
    expected += [place for place in places if start < place.start < end]
    assert places_within(places, start, end) == expected


TRICKY = st.text(
    st.sampled_from(
        "ae\u0301\u0323\u200d\u200c\ufe0f👩🏽🚀🇩🇪🇫a漢！\ufe00한\u1112\u1161\u11ab각\u11a8\u0e01\u0e33\u0e48\u0915\u094d\u0937\u093f\u0bb8\u0bcd\u0b95\uff76\uff9e"
        "\u0600\u0661\U000e0067\u06dd \n.x"
    ),
    max_size=60,
)


@settings(max_examples=500, deadline=None)
@given(text=TRICKY)
def test_characters_end_where_another_library_says(text: str) -> None:
    whole = characters(text)
    for at in range(1, len(text)):
        # A mark on a space is none that anybody reads, and a chunk has no white space at its ends.
        if at not in whole and not text[at - 1].isspace() and not text[at].isspace():
            assert inside_character(text, at), (text[:at], text[at:])


@given(text=TRICKY, ideal=st.integers(0, 70))
def test_the_nearest_place_between_two_characters_is_taken(text: str, ideal: int) -> None:
    if len(text) < 2:
        return
    at = between_characters(text, 0, len(text), ideal)
    assert 0 < at < len(text)
    free = [n for n in range(1, len(text)) if not inside_character(text, n)]
    nearest = min((abs(n - max(1, min(ideal, len(text) - 1))) for n in free), default=None)
    assert nearest is None or abs(at - max(1, min(ideal, len(text) - 1))) == nearest


@pytest.mark.parametrize(
    "text", ["plain words, with (marks).", "漢字は空白なし。", "한국어", "🚀🚀", "🇩🇪🇫🇷", "مرحبا", "𝒳𝒴"]
)
def test_ordinary_characters_may_be_parted(text: str) -> None:
    pair = 2 if text.startswith("🇩") else 1
    assert not any(inside_character(text, at) for at in range(pair, len(text), pair))


@pytest.mark.parametrize("letter", ["e" + "\u0301" * (CLUSTER_MAX // 3), "👩" + "\u200d👩" * 20, "क" + "\u094dक" * 20])
def test_a_long_character_among_thousands_stays_whole(letter: str) -> None:
    chunks = cut(Extracted(letter * 500, markdown=False), "T", Limits(20, 256), tokens)
    assert len(chunks) > 10
    assert all(chunk.text.startswith(letter[0]) and chunk.text.endswith(letter[-1]) for chunk in chunks)
    assert all(len(chunk.text) % len(letter) == 0 for chunk in chunks)
