"""What the owner says is not so is answered as such, with its source, before silence and before likely words."""

import json
import threading
from typing import Any

import httpx
import pytest

from services.ingestor.adapters.parsers import markdown
from services.local.mirror import Choice, Progress, ingest
from services.shared.evaluation.golden.clauses import clause_of
from services.shared.evaluation.golden.negatives import yes_or_no
from tests.e2e.stack import ROOT, Stack, until

RUST = "Zoë Öberg has not worked with Rust professionally."
SKILLS = f"---\ntitle: Skills\nnot:\n  - {RUST}\n---\n# Skills\n\nZoë Öberg has worked with Python since 2014.\n"
PAGE = (
    '<html><head><title>Sailing</title><meta name="not" content="Zoë Öberg does not hold a sailing licence."></head>'
    "<body><h1>Sailing</h1><p>Zoë Öberg sails on Sundays with her brother.</p></body></html>"
)
RECORDS = [
    {"title": "Oracle", "text": "Oracle is what the bank uses.", "not": "Zoë Öberg has not worked with Oracle."},
    {"title": "Postgres", "text": "Zoë Öberg runs Postgres."},
]


class Owner:
    """Somebody whose documents say what is not so."""

    def __init__(self, stack: Stack, space: str) -> None:
        self.http = httpx.Client(base_url=stack.base_url, headers={"Ragstone-Space": space}, timeout=60)

    def upload(self, name: str, data: str) -> None:
        sent = self.http.post("/v1/documents", files=[("files", (name, data.encode()))])
        job = sent.raise_for_status().json()["jobs"][0]["id"]
        until(lambda: self.http.get(f"/v1/jobs/{job}").json()["state"] == "succeeded", 60)

    def ask(self, question: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.post("/v1/ask", json={"question": question}).raise_for_status().json()
        return answer


@pytest.fixture
def owner(stack: Stack, space: str) -> Owner:
    one = Owner(stack, space)
    one.upload("skills.md", SKILLS)
    return one


def test_a_denial_of_the_front_matter_is_answered_and_cited(owner: Owner) -> None:
    found = owner.http.post("/v1/search", json={"question": "Does Zoë Öberg know Rust?"}).json()["passages"]
    assert (found[0]["kind"], found[0]["text"], found[0]["section"]) == ("negative", RUST, "Not the case")
    answer = owner.ask("Does Zoë Öberg know Rust?")
    assert answer["status"] == "answered"
    assert answer["text"].startswith(RUST.removesuffix("."))
    citation = answer["citations"][0]
    source = owner.http.get(citation["url"].split("#")[0]).text
    assert source[citation["start"] : citation["end"]] == citation["quote"] == RUST


def test_pages_and_records_deny_too(owner: Owner) -> None:
    owner.upload("sailing.html", PAGE)
    owner.upload("databases.json", json.dumps(RECORDS))
    sailing, oracle = owner.ask("Does Zoë Öberg hold a sailing licence?"), owner.ask("Has Zoë Öberg used Oracle?")
    assert "does not hold a sailing licence" in sailing["text"]
    assert "has not worked with Oracle" in oracle["text"]
    assert {sailing["status"], oracle["status"]} == {"answered"}


def test_a_document_of_kind_negative_denies_as_a_whole(owner: Owner) -> None:
    owner.upload("limits.md", "---\nkind: negative\n---\n# Limits\n\nZoë Öberg does not take on work in Norway.\n")
    found = owner.http.post("/v1/search", json={"question": "Does Zoë Öberg take on work in Norway?"}).json()
    assert found["passages"][0]["kind"] == "negative"
    assert "does not take on work in Norway" in owner.ask("Does Zoë Öberg take on work in Norway?")["text"]


def test_what_is_neither_said_nor_denied_stays_unanswered(owner: Owner) -> None:
    assert owner.ask("Does Zoë Öberg know Haskell?")["status"] == "abstained"


@pytest.fixture(scope="module")
def corpus(stack: Stack) -> str:
    """The space of the sample corpus, without its profile."""
    with stack.api("negative-corpus") as api:
        assert ingest(api, ROOT / "corpus", Choice(), Progress(), threading.Event()).failed == []
    return "negative-corpus"


def denials() -> list[str]:
    """Every sentence under ``not:`` in the sample corpus."""
    files = sorted((ROOT / "corpus").rglob("*.md"))
    read = [markdown.parse(file.read_bytes(), file.name) for file in files]
    return [one.text[start:end] for one in read for start, end in one.negatives]


def questions_of(denial: str) -> list[str]:
    """What a visitor may ask of it: has she …?"""
    clause = clause_of(denial)
    return [] if clause is None else [asked for asked, _ in yes_or_no(clause, denial)]


def test_every_denial_of_the_sample_corpus_answers_its_question(stack: Stack, corpus: str) -> None:
    asked = {question: denial for denial in denials() for question in questions_of(denial)}
    assert len(asked) >= 40
    answers = {question: stack.ask(question, corpus) for question in asked}
    missed = {
        question: answer.text for question, answer in answers.items() if asked[question].rstrip(".") not in answer.text
    }
    assert missed == {}
    assert all(answer.citations[0].quote == asked[question] for question, answer in answers.items())


@pytest.mark.parametrize(
    ("question", "denial"),
    [
        ("Does Juno Tarkwell know Rust?", "has not worked with Rust professionally"),
        ("Can Juno Tarkwell work in the United States?", "has no work permit for the United States"),
        ("Did she write a doctoral thesis, has she a PhD?", "no PhD"),
    ],
)
def test_other_words_find_the_denial_too(stack: Stack, corpus: str, question: str, denial: str) -> None:
    answer = stack.ask(question, corpus)
    assert answer.status == "answered"
    assert denial in answer.text
