"""Quotes become numbered citations that point into the extracted text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.citations import (
    Numbering,
    holds,
    passage_holds,
    plain_brackets,
    quoted_sentence,
    source_url,
)
from services.gateway.domain.layout import with_markers
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.writing import SentenceWritten, Span
from tests.unit.gateway.messages import SHED, passage, sentence

KEY = (DocumentId("shed.md"), VersionId("v1"))


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        ("It opens at nine.", [1], "It opens at nine [1]."),
        ("Really?!", [2, 3], "Really [2][3]?!"),
        ('He said "yes."', [1], 'He said "yes." [1]'),
        ("No stop", [1], "No stop [1]"),
        ("九时开门。", [1], "九时开门 [1]。"),
        ("...", [1], "... [1]"),
    ],
)
def test_markers_stand_before_the_final_punctuation(text: str, numbers: list[int], expected: str) -> None:
    assert with_markers(text, numbers) == expected


def test_quotes_get_offsets_in_the_extracted_text() -> None:
    one = passage()
    quoted = quoted_sentence(sentence("At nine.", (one, "opens at nine"), of=[one]), [one])
    assert quoted is not None
    quote = quoted.quotes[0]
    assert SHED[quote.start : quote.end] == "opens at nine"
    assert holds(quote, {KEY: SHED})
    assert not holds(quote, {KEY: "X" + SHED})
    assert not holds(quote, {})


def test_a_repeated_table_header_is_not_part_of_a_quote() -> None:
    table = "| k | v |\nrow a | 1\nrow b | 2\n"
    one = passage("| k | v |\nrow b | 2", lead=10, source_text=table)
    assert passage_holds(one, {KEY: table})
    whole = SentenceWritten(
        event="sentence",
        text="b is 2.",
        spans=[Span(passage=0, start=0, end=len(one.text), quote=one.text)],
        score=1.0,
    )
    quoted = quoted_sentence(whole, [one])
    assert quoted is not None
    assert [table[q.start : q.end] for q in quoted.quotes] == ["row b | 2"]
    header_only = whole.model_copy(update={"spans": [Span(passage=0, start=0, end=9, quote="| k | v |")]})
    assert quoted_sentence(header_only, [one]) is None


@pytest.mark.parametrize(
    "span",
    [
        Span(passage=1, start=0, end=3, quote="The"),
        Span(passage=-1, start=0, end=3, quote="The"),
        Span(passage=0, start=0, end=3, quote="the"),
        Span(passage=0, start=3, end=3, quote=""),
        Span(passage=0, start=-3, end=3, quote=""),
        Span(passage=0, start=0, end=9999, quote="The"),
    ],
)
def test_a_span_that_is_not_in_its_passage_takes_its_sentence_along(span: Span) -> None:
    written = SentenceWritten(
        event="sentence", text="x", spans=[Span(passage=0, start=0, end=3, quote="The"), span], score=1.0
    )
    assert quoted_sentence(written, [passage()]) is None


def test_one_number_for_each_distinct_stretch_in_order_of_appearance() -> None:
    one = passage()
    numbering = Numbering()
    texts = [("opens at nine", "Rule 7"), ("Rule 7",), ("lamps", "opens at nine", "lamps")]
    numbers = []
    for quotes in texts:
        quoted = quoted_sentence(sentence("s", *((one, quote) for quote in quotes), of=[one]), [one])
        assert quoted is not None
        numbers.append([citation.n for citation in numbering.cite(quoted)])
    assert numbers == [[1, 2], [2], [3, 1]]
    assert [citation.n for citation in numbering.citations] == [1, 2, 3]
    assert [citation.quote for citation in numbering.citations] == ["opens at nine", "Rule 7", "lamps"]


def test_the_url_survives_any_id() -> None:
    url = source_url(DocumentId("a/b c#?é.md"), VersionId("v 1"), 3, 9)
    assert url == "/v1/documents/a%2Fb%20c%23%3F%C3%A9.md/source?version=v%201&as=text#3-9"


def test_brackets_of_the_source_are_no_citations() -> None:
    assert plain_brackets("As shown [7] and [a], `argv[1]` too[12].") == "As shown (7) and [a], `argv[1]` too(12)."
    assert plain_brackets("Item arr[3], a[2] and low_water[0] stay.") == "Item arr[3], a[2] and low_water[0] stay."


@given(st.text(min_size=1, max_size=60), st.data())
def test_offsets_hold_for_any_text(text: str, data: st.DataObject) -> None:
    source = f"head\n{text}tail"
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    one = passage(text, source_text=source).model_copy(update={"start": 5, "end": 5 + len(text)})
    span = Span(passage=0, start=begin, end=end, quote=text[begin:end])
    quoted = quoted_sentence(SentenceWritten(event="sentence", text="s", spans=[span], score=1.0), [one])
    assert quoted is not None
    assert holds(quoted.quotes[0], {KEY: source})
