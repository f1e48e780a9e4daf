"""A quotation is the smallest run of whole clauses that still supports the sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.facts import faults
from services.generator.domain.quoting import smallest


def quote(claim: str, text: str) -> str:
    """The smallest quotation of the whole text."""
    start, end = smallest(claim, text, 0, len(text))
    return text[start:end]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("It costs 5 euros.", "The ferry runs in summer, and it costs 5 euros.", "it costs 5 euros."),
        ("The ferry runs in summer.", "The ferry runs in summer, and it costs 5 euros.", "The ferry runs in summer"),
        ("It closes at noon.", "It opens at six. It closes at noon. It is red.", "It closes at noon."),
        ("The dock opens at six.", "The dock opens at six.", "The dock opens at six."),
        (
            "The ferry does not run in winter.",
            "The ferry runs in summer, but it does not run in winter, when the harbour freezes.",
            "The ferry runs in summer, but it does not run in winter",
        ),
        ("She drew 1,312 rows.", "She drew 1,312 rows; nobody counted.", "She drew 1,312 rows"),
    ],
)
def test_the_shortest_run_with_every_fact(claim: str, text: str, expected: str) -> None:
    assert quote(claim, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It **runs, mostly, in summer**, they say.",
        "It runs (slowly, mostly) in summer.",
        'He said "it runs, mostly, in summer".',
        "Use `run(a, b, summer)` for it.",
    ],
)
def test_markup_is_never_cut_in_two(text: str) -> None:
    found = quote("It runs in summer.", text)
    for mark in ("**", "`", '"'):
        assert found.count(mark) % 2 == 0
    assert found.count("(") == found.count(")")


CLAUSES = ["the dock opens at six", "Bo holds three keys", "it is not red", "nobody came", "the **big** boat left"]


@given(st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=5), st.data())
def test_a_quotation_holds_the_facts_and_ends_at_words(clauses: list[str], data: st.DataObject) -> None:
    text = ", ".join(clauses) + "."
    claim = data.draw(st.sampled_from(clauses)) + "."
    start, end = smallest(claim, text, 0, len(text))
    found = text[start:end]
    if not faults(claim, text):
        assert faults(claim, found) == []
    assert claim[:-1] in found
    assert start == 0 or not text[start - 1].isalnum()
    assert end == len(text) or not text[end].isalnum()
