"""The gateway's smaller adapters: the profile's file, and the generator's lines."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response, StreamingResponse

from services.gateway.adapters.generator import HttpGenerator
from services.gateway.adapters.profile import load_profile
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE
from services.shared.contracts.profile import Profile
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone
from services.shared.kit.http_app import problem_of
from services.shared.kit.http_client import ServiceClient
from tests.unit.gateway.messages import done, passage, sentence

SAMPLE = Path(__file__).parents[3] / "corpus" / "profile.yaml"
REQUEST = WriteRequest(space=DEFAULT_SPACE, question="q", passages=[passage()], persona="p", language="en")


def test_no_setting_is_a_neutral_profile_and_the_sample_is_a_good_one(tmp_path: Path) -> None:
    assert load_profile(None) == Profile()
    sample = load_profile(SAMPLE)
    assert sample.subject is not None
    assert sample.subject.name
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    assert load_profile(tmp_path / "empty.yaml") == Profile()


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("language: en\nsubject:\n  name: [a]\n", 3, "subject.name"),
        ("language: en\nsubject:\n  nam: a\n", 3, "subject.nam"),
        ("texts:\n  not_found: x\n  declined: 7\n", 3, "texts.declined"),
        ("subject:\n  name: A\n  pronouns:\n    subject: [he, 3]\n", 4, "subject.pronouns.subject.1"),
        ("subject:\n  aliases: []\n", 1, "subject.name"),
        ("subject:\n  name: ' '\n", 2, "subject.name"),
        ("language: en\nsubject: {name: A\n", 3, "YAML"),
        ("language: en\ndecline: &a [*a]\n", 2, "alias"),
        ("subject: &a\n  name: {x: *a}\n", 1, "alias"),
        ("- a\n", 1, "whole"),
        ("a: !!python/object/apply:os.getcwd []\n", 1, "YAML"),
    ],
)
def test_a_broken_profile_is_refused_by_line_and_field(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(text)
    with pytest.raises(RagstoneError) as caught:
        load_profile(path)
    assert caught.value.code is ErrorCode.PROFILE_INVALID
    assert f"profile.yaml, line {line}: " in caught.value.detail
    assert what in caught.value.detail


MANY = """subjct:
  name: X
subject:
  name: 7
  alias: [a]
  pronouns: she
langage: de
examples: one
examples: [a]
decline:
  - {words: [x], topc: y}
texts:
  not_fuond: x
"""


def test_all_faults_are_told_at_once_with_line_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text(MANY)
    with pytest.raises(RagstoneError) as caught:
        load_profile(tmp_path / "profile.yaml")
    assert caught.value.detail.splitlines()[1:] == [
        "  line 1: subjct: there is no such field; did you mean subject?",
        '  line 4: subject.name: has to be a text, and is a number; put it in quotes: "7"',
        "  line 5: subject.alias: there is no such field; did you mean aliases?",
        "  line 6: subject.pronouns: has to be a group of fields, one a line and indented, and is a text",
        "  line 7: langage: there is no such field; did you mean language?",
        "  line 9: examples: is there already in line 8; keep one of the two",
        "  line 11: decline.0.topc: there is no such field; did you mean topic?",
        "  line 13: texts.not_fuond: there is no such field; did you mean not_found?",
    ]
    assert "8 faults" in caught.value.detail


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("language: plain English\n", 1, "no language tag"),
        ("decline:\n  - topic: pay\n    words: [a, ' ']\n", 3, "decline.0.words.1: is blank"),
        ("decline:\n  - topic: '??'\n", 2, "decline.0.topic: is blank"),
        ("decline:\n  - topic: pay\n    text: ''\n", 3, "decline.0.text: is blank"),
        ("texts:\n  declined: ' '\n", 2, "texts.declined: is blank"),
        ("examples: [a, b, c, d, e, f, g]\n", 1, "examples"),
        ("colour: red\n", 1, "known are subject, persona"),
        ("persona:\n", 1, "persona: has to be a text, and is empty"),
        ("tone: yes\n", 1, 'is yes or no; put it in quotes: "yes"'),
    ],
)
def test_what_says_nothing_or_is_no_text_is_explained(tmp_path: Path, text: str, line: int, what: str) -> None:
    (tmp_path / "profile.yaml").write_text(text)
    with pytest.raises(RagstoneError) as caught:
        load_profile(tmp_path / "profile.yaml")
    assert f"line {line}: " in caught.value.detail
    assert what in caught.value.detail


def test_fixed_texts_are_in_the_profiles_language_unless_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "de.yaml").write_text("language: de-CH\ntexts: {declined: Nein.}\n")
    texts = load_profile(tmp_path / "de.yaml").texts
    assert texts.declined == "Nein."
    assert "Dokumente" in texts.not_found
    (tmp_path / "fr.yaml").write_text("language: fr\n")
    assert "documents dont" in load_profile(tmp_path / "fr.yaml").texts.declined
    (tmp_path / "it.yaml").write_text("language: it\n")
    assert load_profile(tmp_path / "it.yaml").texts == Profile().texts


def test_a_profile_is_checked_without_starting_anything(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("tone: 3\n")
    command = [sys.executable, "-m", "services.gateway", "profile", str(SAMPLE), str(tmp_path / "bad.yaml")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "profile.yaml: fine" in ended.stdout
    assert "line 1: tone" in ended.stderr


def test_a_missing_or_unreadable_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("language: ä".encode("latin-1"))
    for name in ("none.yaml", "latin.yaml", "."):
        with pytest.raises(RagstoneError) as caught:
            load_profile(tmp_path / name)
        assert "RAGSTONE_PROFILE" in caught.value.detail


def test_a_gateway_with_a_broken_profile_says_so_and_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("colour: red\n")
    environment = {
        **os.environ,
        "RAGSTONE_PROFILE": str(tmp_path / "profile.yaml"),
        "RAGSTONE_STATE_DIR": str(tmp_path / "state"),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "services.gateway"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "line 1: colour" in ended.stderr
    assert "Traceback" not in ended.stderr


def generator_of(answer: Response) -> HttpGenerator:
    app = FastAPI()

    @app.post("/write")
    async def write() -> Response:
        return answer

    client = ServiceClient(
        name="generator",
        base_url="http://generator",
        unavailable=ErrorCode.GENERATOR_UNAVAILABLE,
        timeout_s=5,
        transport=httpx.ASGITransport(app),
    )
    return HttpGenerator(client)


def lines(*texts: str) -> StreamingResponse:
    async def body() -> AsyncIterator[str]:
        for text in texts:
            yield text + "\n"

    return StreamingResponse(body(), media_type="application/x-ndjson")


async def test_lines_become_events_until_the_writing_is_done() -> None:
    one = passage()
    spoken = sentence("Neun\tUhr 😀.\n", (one, "nine"), of=[one])
    generator = generator_of(lines(spoken.model_dump_json(), "", done().model_dump_json(), "ignored"))
    async with aclosing(generator.write(REQUEST)) as events:
        told = [event async for event in events]
    assert told == [spoken, done()]
    assert isinstance(told[0], SentenceWritten)
    assert isinstance(told[1], WritingDone)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lines(), ErrorCode.GENERATOR_UNAVAILABLE),
        (lines("not json"), ErrorCode.GENERATOR_UNAVAILABLE),
        (lines('{"event": "song"}'), ErrorCode.GENERATOR_UNAVAILABLE),
        (
            lines(
                '{"event": "error", "type": "t", "title": "t", "status": 503, "detail": "no model",'
                ' "code": "writer_unavailable", "request_id": "r"}'
            ),
            ErrorCode.WRITER_UNAVAILABLE,
        ),
        (JSONResponse({}, status_code=500), ErrorCode.GENERATOR_UNAVAILABLE),
        (
            JSONResponse(problem_of(RagstoneError(ErrorCode.BUSY, "later")).model_dump(mode="json"), status_code=503),
            ErrorCode.BUSY,
        ),
    ],
)
async def test_every_way_to_fail_is_named(answer: Response, code: ErrorCode) -> None:
    with pytest.raises(RagstoneError) as caught:
        async for _ in generator_of(answer).write(REQUEST):
            pass
    assert caught.value.code is code
