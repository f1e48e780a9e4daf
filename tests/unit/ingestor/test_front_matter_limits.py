"""Front matter and descriptions that would harm their neighbours, or lose themselves over one mark."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted, describe
from services.ingestor.domain.storable import storable_text, storable_value
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp


def parse(front: str) -> Extracted:
    text = f"---\n{front}\n---\nBody text.\n"
    return FileParsers(10_000_000, TimeUp).parse(incoming("doc", filename="a.md"), text.encode())


def test_an_alias_bomb_is_text_at_once_with_a_warning() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    began = time.monotonic()
    found = parse("\n".join(lines))
    assert time.monotonic() - began < 2
    assert found.metadata == {}
    assert "a.md holds aliases" in (found.warning or "")
    assert found.text.endswith("Body text.\n")


def test_front_matter_as_long_as_a_book_is_text() -> None:
    found = parse("\n".join(f"key{n}: value" for n in range(20_000)))
    assert "longer than 100,000 characters" in (found.warning or "")
    assert "key19999" in found.text


@pytest.mark.parametrize(
    ("front", "metadata"),
    [
        ("questions: [How do I reset it?]", {"questions": ["How do I reset it?"]}),
        ('questions: [Why?, "What, now?", It\'s on: how?]', {"questions": ["Why?", "What, now?", "It's on: how?"]}),
        ("q: [Why?]  # a remark\nn: [1, 2]", {"q": ["Why?"], "n": [1, 2]}),
        ("q: [Why?, ]\nempty: []", {"q": ["Why?"], "empty": []}),
    ],
)
def test_a_one_line_list_may_hold_marks_of_yaml(front: str, metadata: dict[str, object]) -> None:
    found = parse("title: Reset\n" + front)
    assert found.title == "Reset"
    assert found.metadata == metadata
    assert found.warning is None
    assert found.text == "Body text.\n"


def test_yaml_that_is_right_is_not_touched() -> None:
    assert parse("q: [How, 'a: b', [1, {x: y}]]").metadata == {"q": ["How", "a: b", [1, {"x": "y"}]]}


def test_metadata_have_a_limit() -> None:
    with pytest.raises(RagstoneError, match="the limit is 65,536") as caught:
        describe(incoming("doc", metadata={"k": "x" * 65_536}), VersionId("v"), Extracted("t", markdown=True), [])
    assert caught.value.code == ErrorCode.BODY_TOO_LARGE


@given(st.text(st.characters(exclude_categories=[])))
def test_a_storable_text_is_utf8_without_zeros(text: str) -> None:
    kept = storable_text(text)
    assert "\0" not in kept.encode().decode()
    assert kept == "".join(char for char in text if char != "\0" and not "\ud800" <= char <= "\udfff")


def test_numbers_that_are_none_become_null() -> None:
    value = {"a": [float("nan"), float("-inf"), 1.5, True, None], "b\0": {"c": "\ud83d"}}
    assert storable_value(value) == {"a": [None, None, 1.5, True, None], "b": {"c": ""}}


def test_headings_with_rules_between_them_are_a_text() -> None:
    extracted = Extracted("# Opening hours\n\n---\n\n# Closed on Monday\n", markdown=True)
    chunks = cut(extracted, "t", Limits(150, 256), lambda texts: [len(text.split()) for text in texts])
    assert "Opening hours" in chunks[0].text
    assert "Closed on Monday" in chunks[-1].text
