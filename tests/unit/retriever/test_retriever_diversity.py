"""Near-copies and single documents make room, keep their sources, and never cost a passage."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.diversity import Candidates, Chosen, Ranked
from services.shared.contracts.ids import ChunkId

from .fakes import chunk

LONG = "The belt of the first conveyor was taken off, cleaned with soap and put back under the usual tension. "
REWORDED = "The belt of the first conveyor was removed, cleaned with soap, and put back under the usual tension. "
OTHER = "Something else altogether happened in the kitchen."


def diversify(ranked: list[Ranked], top_k: int, vectors: dict[ChunkId, list[float]]) -> Chosen:
    return Candidates(ranked, top_k).choose(vectors)


def one(id: str, document: str, text: str, score: float, source: str | None = None) -> Ranked:
    return Ranked(chunk(id, text, document=document, source=source), score)


def candidates(*rows: tuple[str, str, float], text: str | None = None) -> list[Ranked]:
    return [
        one(id, document, text or f"{id} {document} speaks of {id * 9} alone", score) for id, document, score in rows
    ]


def test_a_copy_makes_room_and_is_named() -> None:
    copy = LONG.replace("conveyor was taken off,", "conveyor was taken off")
    ranked = [one("a", "d1", LONG, 0.03), one("b", "d2", copy, 0.03), one("c", "d3", OTHER, 0.02)]
    chosen = diversify(ranked, 2, {})
    assert chosen.kept == ["a", "c"]
    assert chosen.also_in == {"a": ["b"]}
    assert [(drop.chunk_id, drop.reason) for drop in chosen.drops] == [("b", "near_duplicate of a")]


def test_the_better_sourced_copy_is_shown_in_the_place_of_the_best() -> None:
    ranked = [
        one("a", "d1", LONG, 0.03),
        one("b", "d2", OTHER, 0.025),
        one("c", "d3", LONG, 0.02, source="https://example.org/belt"),
    ]
    chosen = diversify(ranked, 2, {})
    assert chosen.kept == ["c", "b"]
    assert chosen.also_in == {"c": ["a"]}


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("first", "2nd"),
        ("was taken", "was not taken"),
        ("usual", "unusual"),
        ("soap", "acid"),
        ("put back", "put away"),
        ("cleaned with soap and put back", "put back and cleaned with soap"),
    ],
)
def test_one_word_makes_a_text_another_one_however_long_the_rest_is(said: str, instead: str) -> None:
    """ "Permitted" and "prohibited" are one word apart: both are shown, the better-ranked first."""
    rest = "Nobody knows how the belt came to be so dirty in the first place, nor who was to blame for it. " * 3
    ranked = [one("a", "d1", LONG + rest, 0.03), one("b", "d2", LONG.replace(said, instead) + rest, 0.02, "a.org")]
    chosen = diversify(ranked, 2, {})
    assert (chosen.kept, chosen.also_in) == (["a", "b"], {})


@pytest.mark.parametrize(
    ("said", "instead"), [("+40 degrees", "-40 degrees"), ("€5", "$5"), ("5 %", "5"), ("in C++", "in C")]
)
def test_signs_and_units_of_figures_count(said: str, instead: str) -> None:
    ranked = [one("a", "d1", LONG + said, 0.03), one("b", "d2", LONG + instead, 0.02)]
    assert diversify(ranked, 2, {}).also_in == {}


def test_what_speaks_of_the_same_in_other_words_makes_room_and_is_not_merged() -> None:
    ranked = [one("a", "d1", LONG, 0.03), one("b", "d2", REWORDED, 0.03), one("c", "d3", OTHER, 0.02)]
    assert Candidates(ranked, 2).doubtful == ["a", "b"]
    near = {ChunkId("a"): [1.0, 0.1], ChunkId("b"): [1.0, 0.12]}
    chosen = diversify(ranked, 2, near)
    assert (chosen.kept, chosen.also_in) == (["a", "c"], {})
    assert [drop.reason for drop in chosen.drops] == ["much like a"]
    assert diversify(ranked, 3, near).kept == ["a", "b", "c"], "there is room for all"
    assert diversify(ranked, 2, {ChunkId("a"): [1.0, 0.1], ChunkId("b"): [0.5, 0.9]}).kept == ["a", "b"]
    assert diversify(ranked, 2, {}).kept == ["a", "b"], "without vectors a doubt is no likeness"


def test_a_longer_chunk_of_the_same_document_stays() -> None:
    ranked = [one("a", "d1", LONG + OTHER, 0.03), one("b", "d1", LONG, 0.03), one("c", "d2", "Kitchens.", 0.02)]
    assert diversify(ranked, 2, {}).kept == ["a", "b"]


def test_copies_of_a_script_without_spaces_are_found_and_one_sign_keeps_them_apart() -> None:
    text = "苏州园林以其精致的布局和深厚的文化内涵而闻名于世，这里允许拍照，每年吸引众多游客前来参观。" * 3
    ranked = [one("a", "d1", text, 0.03), one("b", "d2", text + "\n", 0.03), one("c", "d3", OTHER, 0.02)]
    assert diversify(ranked, 2, {}).kept == ["a", "c"]
    ranked[1] = one("b", "d2", text.replace("允许", "禁止", 1), 0.03)
    assert diversify(ranked, 2, {}).kept == ["a", "b"]


def test_a_document_gets_three_of_five_when_others_are_comparable() -> None:
    rows = [(f"a{n}", "a", 0.02) for n in range(5)] + [("b1", "b", 0.0165), ("c1", "c", 0.0165)]
    chosen = diversify(candidates(*rows), 5, {})
    assert chosen.kept == ["a0", "a1", "a2", "b1", "c1"]
    assert {drop.chunk_id for drop in chosen.drops} == {"a3", "a4"}


def test_a_document_that_is_far_better_may_fill_the_page() -> None:
    rows = [(f"a{n}", "a", 0.03) for n in range(5)] + [("b1", "b", 0.01)]
    assert diversify(candidates(*rows), 5, {}).kept == ["a0", "a1", "a2", "a3", "a4"]


def test_copies_of_one_text_are_one_passage_with_all_its_places() -> None:
    """Five times the same says no more than once; every place that says it stays named."""
    chosen = diversify(candidates(*[(f"c{n}", f"d{n}", 0.02) for n in range(8)], text=LONG), 5, {})
    assert chosen.kept == ["c0"]
    assert chosen.also_in == {"c0": [f"c{n}" for n in range(1, 8)]}


def test_long_lists_are_left_alone() -> None:
    copies = candidates(*[(f"c{n:02d}", "d", 0.02) for n in range(20)], text=LONG)
    assert diversify(copies, 11, {}).kept == [row.chunk.id for row in copies[:11]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 9)), max_size=15), st.integers(1, 12))
def test_what_is_shown_or_named_or_dropped_is_every_candidate_in_reach(
    rows: list[tuple[int, int, int]], top_k: int
) -> None:
    ranked = [
        one(f"c{place:02d}", f"d{document}", LONG if text == 0 else f"{LONG} {text} more", score / 100)
        for place, (document, text, score) in enumerate(sorted(rows, key=lambda row: -row[2]))
    ]
    chosen = diversify(ranked, top_k, {})
    named = [id for ids in chosen.also_in.values() for id in ids]
    assert len(set(chosen.kept)) == len(chosen.kept) <= top_k
    assert not set(named) & set(chosen.kept)
    assert set(named) <= {drop.chunk_id for drop in chosen.drops} | {row.chunk.id for row in ranked}
    distinct = 3 if top_k <= 10 else 15
    assert len(chosen.kept) >= min(top_k, distinct, len({replace(row.chunk, id=ChunkId("")).text for row in ranked}))
