"""Near-copies and single documents make room, and never at the price of fewer passages."""

from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.diversity import Ranked, diversify
from services.shared.contracts.ids import ChunkId, DocumentId

LONG = "The belt of the first conveyor was taken off, cleaned with soap and put back under the usual tension. "


def candidates(*rows: tuple[str, str, float], text: str | None = None) -> list[Ranked]:
    return [
        Ranked(ChunkId(id), DocumentId(document), text or f"{id} {document} speaks of {id * 9} alone", score)
        for id, document, score in rows
    ]


def test_a_near_copy_makes_room() -> None:
    ranked = [
        Ranked(ChunkId("a"), DocumentId("d1"), LONG, 0.03),
        Ranked(ChunkId("b"), DocumentId("d2"), LONG + "Again!", 0.03),
        Ranked(ChunkId("c"), DocumentId("d3"), "Something else altogether happened in the kitchen.", 0.02),
    ]
    kept, drops = diversify(ranked, 2)
    assert kept == ["a", "c"]
    assert [(drop.chunk_id, drop.reason) for drop in drops] == [("b", "near_duplicate of a")]


def test_a_number_or_a_negation_makes_a_text_another_one() -> None:
    for changed in (LONG.replace("first", "2nd"), LONG.replace("was taken", "was not taken")):
        ranked = [
            Ranked(ChunkId("a"), DocumentId("d1"), LONG, 0.03),
            Ranked(ChunkId("b"), DocumentId("d2"), changed, 0.03),
            Ranked(ChunkId("c"), DocumentId("d3"), "Something else altogether.", 0.02),
        ]
        assert diversify(ranked, 2) == (["a", "b"], [])


def test_a_document_gets_three_of_five_when_others_are_comparable() -> None:
    rows = [(f"a{n}", "a", 0.02) for n in range(5)] + [("b1", "b", 0.0165), ("c1", "c", 0.0165)]
    kept, drops = diversify(candidates(*rows), 5)
    assert kept == ["a0", "a1", "a2", "b1", "c1"]
    assert {drop.chunk_id for drop in drops} == {"a3", "a4"}


def test_a_document_that_is_far_better_may_fill_the_page() -> None:
    rows = [(f"a{n}", "a", 0.03) for n in range(5)] + [("b1", "b", 0.01)]
    assert diversify(candidates(*rows), 5)[0] == ["a0", "a1", "a2", "a3", "a4"]


def test_fewer_than_asked_for_is_never_the_outcome() -> None:
    copies = candidates(*[(f"c{n}", "d", 0.02) for n in range(8)], text=LONG)
    assert diversify(copies, 5)[0] == ["c0", "c1", "c2", "c3", "c4"]


def test_long_lists_are_left_alone() -> None:
    copies = candidates(*[(f"c{n:02d}", "d", 0.02) for n in range(20)], text=LONG)
    assert diversify(copies, 11) == ([one.chunk_id for one in copies[:11]], [])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 9)), max_size=15), st.integers(1, 12))
def test_any_candidates_fill_the_page_in_their_order(rows: list[tuple[int, int, int]], top_k: int) -> None:
    ranked = [
        Ranked(ChunkId(f"c{place:02d}"), DocumentId(f"d{document}"), LONG * (text + 1), score / 100)
        for place, (document, text, score) in enumerate(sorted(rows, key=lambda row: -row[2]))
    ]
    kept, drops = diversify(ranked, top_k)
    assert len(kept) == min(top_k, len(ranked))
    assert kept == sorted(kept)
    assert not {drop.chunk_id for drop in drops} & set(kept)
