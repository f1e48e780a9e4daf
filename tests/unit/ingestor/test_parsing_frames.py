"""What goes over the pipes to the process that reads files, and what is no frame."""

import io
import json
import time
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.adapters.archives import ArchiveLimits
from services.ingestor.adapters.parsing import frames
from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.places import Place
from tests.unit.ingestor.fake_documents import incoming

FULL = Extracted(
    text="Straße \U0001f600 \ud800 end\n",
    markdown=True,
    title="T",
    type="note",
    tags=["a", "b"],
    source="s",
    metadata={"deep": {"list": [1, None, 2.5]}, "half": "\udfff"},
    language="de",
    warning="w",
    negatives=[(1, 4), (5, 6)],
    body_end=3,
    places=[Place(start=0, label="page 1"), Place(start=7, label="page 2")],
    pages=2,
)


def sent(extracted: Extracted) -> Extracted:
    body = extracted.text.encode("utf-8", "surrogatepass")
    arriving = frames.Arriving(len(body))
    whole = arriving.take(frames.head(frames.from_extracted(extracted), len(body)) + body)
    assert whole
    return frames.to_extracted(*arriving.whole())


def test_everything_about_a_text_arrives() -> None:
    empty = [one.name for one in fields(Extracted) if not getattr(FULL, one.name)]
    assert not empty, "each field is filled, so that a new one is noticed here"
    assert sent(FULL) == FULL


@given(st.text(), st.lists(st.integers(min_value=1, max_value=40), min_size=1))
def test_in_whatever_pieces_it_comes(text: str, sizes: list[int]) -> None:
    body = text.encode("utf-8", "surrogatepass")
    data = frames.head({"a": text}, len(body)) + body
    arriving = frames.Arriving(len(body))
    at = step = 0
    whole = False
    while at < len(data):
        assert not whole
        size = sizes[step % len(sizes)]
        whole = arriving.take(data[at : at + size])
        at, step = at + size, step + 1
    assert whole
    assert arriving.whole() == ({"a": text}, text)


@given(st.binary(min_size=8))
def test_noise_is_no_frame(noise: bytes) -> None:
    arriving = frames.Arriving(10)
    with pytest.raises(frames.Garbled):  # noqa: PT012
        if arriving.take(noise):
            frames.to_extracted(*arriving.whole())
        raise frames.Garbled


def test_too_long_a_text_is_noticed_before_it_is_read() -> None:
    with pytest.raises(frames.Garbled):
        frames.Arriving(10).take(frames.head({}, 11))
    with pytest.raises(frames.Garbled):
        frames.Arriving(10).take(frames.head({}, 1) + b"ab")


@pytest.mark.parametrize(
    "header",
    [{}, {"places": 3, "negatives": []}, {"places": [["a"]], "negatives": []}],
)
def test_a_strange_answer_is_no_text(header: frames.Header) -> None:
    with pytest.raises(frames.Garbled):
        frames.to_extracted(header, "text")


def test_what_a_later_release_says_more_is_left_out() -> None:
    assert frames.to_extracted({**frames.from_extracted(FULL), "later": 1}, FULL.text) == FULL


def test_a_document_arrives_on_the_other_side() -> None:
    document = incoming("doc", filename="../ü\0.md", media_type="text/markdown")
    stream = io.BytesIO(frames.head(frames.from_incoming(document), 3) + b"abc")
    frame = frames.read(stream)
    assert frame is not None
    again = frames.to_incoming(frame[0], 3)
    assert (again.name, again.document_id, again.media_type) == (document.name, "doc", "text/markdown")
    assert frame[1] == b"abc"
    assert frames.read(stream) is None


def test_a_frame_that_breaks_off_is_the_end() -> None:
    whole = frames.head({"a": 1}, 3) + b"abc"
    assert frames.read(io.BytesIO(whole[:-1])) is None
    assert frames.read(io.BytesIO(whole[:5])) is None


def test_a_large_text_costs_no_more_than_its_length() -> None:
    size = 64_000_000
    data = frames.head({}, size) + b"a" * size
    arriving, began = frames.Arriving(size), time.thread_time()
    for at in range(0, len(data), 65_536):
        arriving.take(data[at : at + 65_536])
    arriving.whole()
    assert time.thread_time() - began < 2.0, "a tenth of a second of work; copied anew for each piece, many seconds"


def test_limits_arrive_as_they_were_set() -> None:
    limits = ParseLimits(1, 2, 3.5, 4, 5, ArchiveLimits(6, 7, 8, 9))
    assert ParseLimits.from_json(limits.to_json()) == limits
    assert isinstance(json.loads(limits.to_json()), dict)
