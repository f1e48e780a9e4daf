"""`ragstone gaps` as it is typed, against a gateway in memory."""

import json

import pytest

from tests.contract.local.typed import Ragstone
from tests.unit.local.fake_gaps import FakeGaps


@pytest.fixture
def gateway() -> FakeGaps:
    return FakeGaps()


def test_gaps_are_listed_with_their_other_wordings(ragstone: Ragstone, gateway: FakeGaps) -> None:
    shown = ragstone("gaps", "list", "--state", "open", "--limit", "5")
    assert shown.returncode == 0, shown.stderr
    for said in ("g1", "Does she know Rust?", "Has she used Rust?", "and 1 more", "Skills", "1 open"):
        assert said in shown.stdout
    assert "Rust, anyone?" not in shown.stdout
    assert gateway.asked[0][1] == "/v1/gaps?limit=5&state=open"
    listed = json.loads(ragstone("gaps", "list", "--json").stdout)
    assert listed["items"][0]["others"][3] == "Rust, anyone?"
    gateway.gaps.clear()
    assert "nobody asked in vain" in ragstone("gaps", "list").stdout


def test_a_fact_is_waited_for(ragstone: Ragstone, gateway: FakeGaps) -> None:
    done = ragstone("gaps", "fact", "g1", "She does not know Rust.", "--not", "--source", "asked her")
    assert done.returncode == 0, done.stderr
    assert "Document facts/g1 answers it from now on" in done.stdout
    sent = next(body for method, path, _, body in gateway.asked if path == "/v1/gaps/g1/fact")
    assert sent == {"text": "She does not know Rust.", "negative": True, "source": "asked her"}
    as_json = json.loads(ragstone("gaps", "fact", "g1", "She knows Rust.", "--json").stdout)
    assert as_json["document_id"] == "facts/g1"


def test_gaps_are_laid_aside_and_taken_up(ragstone: Ragstone, apart: Ragstone) -> None:
    assert apart("gaps", "dismiss", "g1").stdout == "Dismissed g1.\n"
    assert ragstone("gaps", "reopen", "g1").stdout == "Open again: g1.\n"
    assert json.loads(ragstone("gaps", "dismiss", "g1", "--json").stdout)["state"] == "dismissed"


@pytest.mark.parametrize(("words", "code"), [(["fact", "g1", " "], 2), (["dismiss", "../x"], 1), (["fact", "g1"], 2)])
def test_what_cannot_be_meant_is_refused(ragstone: Ragstone, words: list[str], code: int) -> None:
    assert ragstone("gaps", *words).returncode == code


def test_feedback_shows_what_an_answer_rested_on(apart: Ragstone, gateway: FakeGaps) -> None:
    citation = {
        "n": 1,
        "document_id": "a.md",
        "version": "v1",
        "title": "Hours",
        "source": None,
        "section": "",
        "place": "page 3",
        "type": None,
        "chunk_id": "c",
        "start": 0,
        "end": 7,
        "quote": "at nine",
        "url": "/x",
    }
    evidence = {
        "citations": [citation],
        "confidence": 0.71,
        "model": {"writer": "extractive", "name": None},
        "index": {"id": "i1", "embedder": "fake", "seq": 7},
    }
    gateway.said = {"evidence": evidence}
    shown = apart("feedback", "list").stdout
    assert "0.71 (extractive); Hours, page 3: “at nine”" in shown
