"""Measuring a space of the running system: golden questions that follow the content, evaluations, feedback."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.stack import Stack, until

POOL = """# The pool

## Opening hours
The pool of Zanvoort opens at 6:45 and closes at 21:30. The last admission is 45 minutes before closing.

## Prices
A ticket for adults costs 7.20 euros, and a ticket for children costs 3.10 euros. The sauna is not open to children.
"""
ASKED = "When does the pool of Zanvoort open?"


class Owner:
    """Somebody whose documents are in one space."""

    def __init__(self, stack: Stack, space: str) -> None:
        self.stack, self.space = stack, space
        self.http = httpx.Client(base_url=stack.base_url, headers={"Ragstone-Space": space}, timeout=60)

    def write(self, text: str) -> None:
        assert self.stack.add(text, "pool.md", self.space).state == "succeeded"

    def ragstone(self, *words: str) -> str:
        run = self.stack.ragstone(*words, "--space", self.space)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def golden(self, **query: str) -> list[dict[str, Any]]:
        answer = self.http.get("/v1/golden", params=query)
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    def approve(self, *questions: dict[str, Any]) -> None:
        sent = self.http.put("/v1/golden", json={"items": [{"question": question} for question in questions]})
        assert sent.status_code == 200, sent.text


@pytest.fixture
def owner(stack: Stack, space: str) -> Owner:
    one = Owner(stack, space)
    one.write(POOL)
    return one


def opening(id: str = "opening", text: str = ASKED) -> dict[str, Any]:
    quote = "The pool of Zanvoort opens at 6:45 and closes at 21:30."
    return {
        "id": id, "text": text, "kind": "factual_recall", "expected": "It opens at 6:45.", "facts": [["6:45"]],
        "gold": [{"document_id": "pool.md", "quote": quote}],
    }  # fmt: skip


def test_questions_are_made_reviewed_and_asked(owner: Owner, tmp_path: Path) -> None:
    review = tmp_path / "review.yaml"
    owner.ragstone("golden", "make", "--limit", "12", "--out", str(review))
    proposed = owner.golden(state="proposed")
    assert {item["question"]["behaviour"] for item in proposed} >= {"answer", "abstain"}
    quotes = [span["quote"] for item in proposed for span in item["question"]["gold"] if span["quote"]]
    assert quotes
    assert all(quote in POOL for quote in quotes)
    review.write_text(review.read_text().replace("keep: undecided", "keep: yes"))
    owner.ragstone("golden", "import", str(review))
    assert len(owner.golden(state="approved")) == len(proposed)
    owner.ragstone("eval", "--out", str(tmp_path / "run"))
    found = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert len(found["outcomes"]) == len(proposed)
    assert found["summary"]["values"]["recall@5"]["mean"] == 1.0
    assert not any(outcome["error"] for outcome in found["outcomes"])
    assert "<svg" in (tmp_path / "run" / "report.html").read_text()
    report = owner.http.get(f"/v1/evaluations/{found['id']}/report")
    assert report.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in report.headers["Content-Security-Policy"]


def test_a_question_whose_passage_changed_is_flagged_and_not_asked(owner: Owner) -> None:
    owner.approve(opening())
    assert owner.golden()[0]["flagged"] is None
    owner.write(POOL.replace("6:45", "7:15"))
    assert "pool.md" in owner.golden()[0]["flagged"]
    refused = owner.http.post("/v1/evaluations", json={})
    assert (refused.status_code, refused.json()["code"]) == (422, "golden_set_empty")
    owner.write(POOL)
    assert owner.golden()[0]["flagged"] is None
    owner.http.delete("/v1/documents/pool.md")
    assert "pool.md" in owner.golden()[0]["flagged"]


def test_bad_feedback_that_was_corrected_is_a_golden_question(owner: Owner) -> None:
    answer = owner.http.post("/v1/ask", json={"question": ASKED}).json()
    said = owner.http.post("/v1/feedback", json={"answer_id": answer["id"], "verdict": "bad", "comment": "too long"})
    assert said.status_code == 201, said.text
    feedback = said.json()
    assert (feedback["question"], feedback["answer_text"]) == (ASKED, answer["text"])
    owner.ragstone("feedback", "correct", feedback["id"], "--expected", "It opens at 6:45.", "--fact", "6:45")
    (kept,) = owner.golden(state="approved")
    assert (kept["question"]["text"], kept["question"]["facts"], kept["origin"]) == (ASKED, [["6:45"]], "feedback")
    owner.ragstone("eval", "answers")
    unknown = owner.http.post("/v1/feedback", json={"answer_id": "nobody-said-that", "verdict": "bad"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "answer_not_found")


def test_a_veto_compares_with_the_last_run_and_says_what_got_worse(owner: Owner, tmp_path: Path) -> None:
    for n in range(20):
        owner.approve(opening(f"q{n}", f"{ASKED} I ask as guest number {n}."))
    owner.ragstone("eval", "retrieval", "--out", str(tmp_path / "before"))
    owner.ragstone("eval", "retrieval", "--against", "last", "--veto")
    # Somebody breaks the page: the sentence stays, buried in a document that says everything else first.
    buried = "\n\n".join(f"The pool of Zanvoort opens again after repair {n} of its lift." for n in range(60))
    owner.write(f"# Zanvoort\n\n{buried}\n\n" + POOL)
    worse = owner.stack.ragstone("eval", "retrieval", "--against", "last", "--veto", "--space", owner.space)
    assert worse.returncode == 1, worse.stdout + worse.stderr
    assert "ndcg@10" in worse.stdout


def test_an_evaluation_makes_way_for_documents_and_can_be_cancelled(owner: Owner, stack: Stack) -> None:
    questions = [opening(f"q{n}", f"{ASKED} Guest {n}.") for n in range(2000)]
    started = owner.http.post("/v1/evaluations", json={"questions": questions, "subject": "answers"})
    assert started.status_code == 202, started.text
    job = f"/v1/jobs/{started.json()['job_id']}"
    until(lambda: owner.http.get(job).json()["done"] > 0)
    assert owner.http.get(f"/v1/evaluations/{started.json()['id']}").status_code == 409
    assert stack.add("The kiosk sells ice cream.", "kiosk", owner.space).state == "succeeded"
    assert owner.http.get(job).json()["state"] in ("running", "queued")
    owner.http.post(f"{job}/cancel")
    until(lambda: bool(owner.http.get(job).json()["state"] == "cancelled"))
