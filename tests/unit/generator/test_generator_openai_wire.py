"""What an OpenAI-compatible stream's bytes mean."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.adapters.openai_wire import (
    EventLines,
    ServedModel,
    StreamError,
    error_text,
    error_type,
    models_of,
    piece_of,
)
from services.generator.ports import Piece


def event(**choice: Any) -> str:
    """The data of one event with one choice."""
    return json.dumps({"choices": [{"index": 0, **choice}]})


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5), st.integers(1, 9), st.sampled_from(["\n", "\r\n"]))
def test_wherever_the_bytes_are_cut_the_events_are_the_same(texts: list[str], size: int, ending: str) -> None:
    datas = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    whole = "".join(f": ping{ending}id: 7{ending}data: {data}{ending}{ending}" for data in datas).encode()
    lines = EventLines()
    cut = [data for at in range(0, len(whole), size) for data in lines.feed(whole[at : at + size])]
    assert cut == datas


def test_a_field_needs_no_space_and_an_unfinished_line_waits() -> None:
    lines = EventLines()
    assert lines.feed(b'data:{"a":1}\ndata: [DO') == ['{"a":1}']
    assert lines.feed(b"NE]\n") == ["[DONE]"]


def test_the_error_field_breaks_off_with_its_words() -> None:
    with pytest.raises(StreamError, match=r"^slot unavailable$"):
        EventLines().feed(b'error: {"code":500,"message":"slot unavailable"}\n\n')


@pytest.mark.parametrize(
    ("data", "piece"),
    [
        ("[DONE]", None),
        ('{"choices": [], "usage": {"total_tokens": 9}}', None),
        (event(delta={"role": "assistant", "content": None}), None),
        (event(delta={"role": "assistant", "content": ""}), None),
        (event(delta={"content": " "}), Piece(" ")),
        (event(delta={"content": "The"}, finish_reason=None), Piece("The")),
        (event(delta={"reasoning_content": "hm"}), Piece("")),
        (event(delta={"reasoning": "hm", "content": None}), Piece("")),
        (event(delta={}, finish_reason="stop"), Piece("", "stop")),
        (event(delta={"content": "."}, finish_reason="stop"), Piece(".", "stop")),
        (event(finish_reason="length"), Piece("", "length")),
        (event(delta={}, finish_reason="content_filter"), Piece("", "stop")),
    ],
)
def test_what_one_event_adds(data: str, piece: Piece | None) -> None:
    assert piece_of(data) == piece


@pytest.mark.parametrize(
    "data",
    [
        '{"error": {"message": "out of memory", "code": 500}}',
        '{"error": "out of memory"}',
        '{"object": "error", "message": "out of memory", "code": 500}',
    ],
)
def test_an_error_as_event_is_told(data: str) -> None:
    with pytest.raises(StreamError, match=r"^out of memory$"):
        piece_of(data)


@pytest.mark.parametrize("data", ["", "{", "[]", "5", "{}", '{"choices": [5]}', event(delta={"content": 5})])
def test_what_is_no_event_is_a_value_error(data: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the whole family is the promise
        piece_of(data)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"error": {"message": "full", "type": "t"}}', "full"),
        ('{"error": "full"}', "full"),
        ('{"detail": "full"}', "full"),
        ('{"detail": [{"msg": "full"}]}', '[{"msg": "full"}]'),
        ("<html>\n full</html>", "<html> full</html>"),
        ("null", "null"),
        ("x" * 999, "x" * 300),
    ],
)
def test_an_errors_words(body: str, text: str) -> None:
    assert error_text(body) == text


@pytest.mark.parametrize("body", ["", "[]", '{"error": "text"}', '{"error": null}', '{"other": 1}'])
def test_an_error_without_type_has_none(body: str) -> None:
    assert error_type(body).strip() == ""


def test_an_errors_type_or_code_is_found() -> None:
    assert "exceed_context_size_error" in error_type('{"error": {"code": 400, "type": "exceed_context_size_error"}}')
    assert "context_length_exceeded" in error_type('{"error": {"code": "context_length_exceeded", "type": null}}')


def test_a_models_window_is_found_in_either_place_and_zero_is_none() -> None:
    told = [{"id": "a", "meta": {"n_ctx": 4096}}, {"id": "b", "max_model_len": 2048}, {"id": "c", "meta": None}]
    models = models_of(json.dumps({"data": told}).encode())
    assert [one.window for one in models] == [4096, 2048, None]


def test_a_model_is_called_by_id_alias_or_without_latest() -> None:
    model = ServedModel(id="qwen3:latest", aliases=["fast"])
    assert [model.is_called(name) for name in ("qwen3:latest", "fast", "qwen3", "qwen")] == [True, True, True, False]
