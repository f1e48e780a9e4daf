"""A question without an answer, the fact that an owner adds, and the answer from then on: over a whole stack."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.e2e.stack import Stack, until

SHOP = (
    "# The shop\n\nThe shop in Sandvik sells bicycles and repairs them. It opens at nine in the morning.\n\n"
    "Mira Lund founded the shop in 1998 and works there with two mechanics.\n"
)
CARAVAN = "How much does a parking place for a caravan cost?"
CARAVAN_TOO = "What does a parking place for a caravan cost?"
CHARGING = "Can guests charge an electric car overnight?"
BOAT = "How much does a berth for a motor boat cost?"
BAKERY = "Which bread is baked with rye flour?"
FACT = "A parking place for a caravan costs twelve euros a night."


class Owner:
    """Somebody with a shop, a space and a gateway."""

    def __init__(self, stack: Stack, space: str) -> None:
        self.http = httpx.Client(base_url=stack.base_url, headers={"Ragstone-Space": space}, timeout=60)

    def ended(self, job_id: str) -> None:
        until(lambda: self.http.get(f"/v1/jobs/{job_id}").json()["state"] == "succeeded", 60)

    def add(self, id: str, text: str) -> None:
        sent = self.http.post("/v1/documents", json={"id": id, "title": "The shop", "text": text})
        self.ended(sent.raise_for_status().json()["jobs"][0]["id"])

    def ask(self, question: str, **said: Any) -> dict[str, Any]:
        answer: dict[str, Any] = (
            self.http.post("/v1/ask", json={"question": question, **said}).raise_for_status().json()
        )
        return answer

    def gaps(self) -> dict[str, dict[str, Any]]:
        return {gap["question"]: gap for gap in self.http.get("/v1/gaps").raise_for_status().json()["items"]}

    def gap(self, question: str) -> dict[str, Any]:
        until(lambda: question in self.gaps(), 30, told=lambda: str(self.gaps()))
        return self.gaps()[question]

    def fact(self, gap: dict[str, Any], text: str, **said: Any) -> dict[str, Any]:
        added: dict[str, Any] = self.http.post(f"/v1/gaps/{gap['id']}/fact", json={"text": text, **said}).json()
        assert added["gap"]["state"] == "answered", added
        self.ended(added["job_id"])
        return added


@pytest.fixture
def owner(stack: Stack, space: str) -> Iterator[Owner]:
    one = Owner(stack, space)
    one.add("shop.md", SHOP)
    yield one
    one.http.close()


def test_a_fact_answers_the_question_with_a_citation_and_its_deletion_opens_the_gap(owner: Owner) -> None:
    before = owner.ask(CARAVAN)
    assert before["status"] == "abstained", before
    gap = owner.gap(CARAVAN)
    assert (gap["state"], gap["asked"], gap["judged_bad"], gap["nearest"]) == ("open", 1, 0, ["The shop"])

    added = owner.fact(gap, FACT)
    answer = owner.ask(CARAVAN)
    assert answer["status"] == "answered", answer
    assert "twelve euros a night" in answer["text"]
    citation = answer["citations"][0]
    assert citation["document_id"] == added["document_id"] == f"facts/{gap['id']}"
    assert citation["title"] == CARAVAN
    source = owner.http.get(citation["url"].split("#")[0]).text
    assert source[citation["start"] : citation["end"]] == citation["quote"]
    assert owner.http.get(f"/v1/documents/{added['document_id']}").json()["type"] == "fact"

    assert owner.http.delete(f"/v1/documents/{added['document_id']}").status_code == 200
    again = owner.gaps()[CARAVAN]
    assert (again["state"], again["document_id"]) == ("open", None)
    assert owner.ask(CARAVAN)["status"] == "abstained"


def test_a_negative_fact_answers_no_with_confidence(owner: Owner) -> None:
    assert owner.ask(CHARGING)["status"] == "abstained"
    gap = owner.gap(CHARGING)
    owner.fact(gap, "Guests cannot charge an electric car overnight.", negative=True, source="asked her")
    found = owner.http.post("/v1/search", json={"question": CHARGING}).json()["passages"]
    assert found[0]["kind"] == "negative"
    answer = owner.ask(CHARGING)
    assert answer["status"] == "answered", answer
    assert "cannot charge an electric car" in answer["text"]
    assert answer["confidence"] >= 0.5
    assert answer["citations"][0]["source"] == "asked her"


def test_the_same_in_other_words_is_one_gap_and_another_thing_is_another(owner: Owner) -> None:
    for question in (CARAVAN, CHARGING, BOAT):
        assert owner.ask(question)["status"] == "abstained"
        owner.gap(question)
    # In the same words it is counted once for one client within the hour; in others it is joined.
    owner.ask(CARAVAN.upper())
    owner.ask(CARAVAN_TOO)
    owner.ask(BAKERY)
    owner.gap(BAKERY)
    assert {question: gap["asked"] for question, gap in owner.gaps().items()} == {
        CARAVAN: 1,
        CHARGING: 1,
        BOAT: 1,
        BAKERY: 1,
    }


def test_a_bad_answer_is_a_gap_with_its_evidence_kept(owner: Owner) -> None:
    answer = owner.ask("When does the shop open?")
    assert answer["status"] == "answered"
    said = owner.http.post("/v1/feedback", json={"answer_id": answer["id"], "verdict": "bad"}).json()
    assert said["evidence"]["citations"] == answer["citations"]
    assert (said["evidence"]["confidence"], said["evidence"]["index"]) == (answer["confidence"], answer["index"])
    gap = owner.gap("When does the shop open?")
    assert (gap["asked"], gap["judged_bad"]) == (0, 1)
    assert owner.http.delete("/v1/documents/shop.md").status_code == 200
    (left,) = owner.http.get("/v1/feedback").json()["items"]
    assert left["evidence"]["citations"] == []
    assert "nine in the morning" not in json.dumps(left)
    assert owner.gaps()["When does the shop open?"]["nearest"] == []


def test_filters_are_no_question_to_the_whole_content(owner: Owner) -> None:
    assert owner.ask("Who founded the shop?", filters={"tags": ["faq"]})["status"] == "abstained"
    owner.ask(CARAVAN)
    owner.gap(CARAVAN)
    assert set(owner.gaps()) == {CARAVAN}


def test_the_command_line_lists_answers_and_dismisses(stack: Stack, space: str, owner: Owner) -> None:
    owner.ask(CARAVAN)
    owner.ask(CHARGING)
    gap, other = owner.gap(CARAVAN), owner.gap(CHARGING)
    shown = stack.ragstone("gaps", "list", "--space", space)
    assert CARAVAN in shown.stdout, shown.stderr
    assert "2 open" in shown.stdout
    words = ("gaps", "fact", gap["id"], FACT, "--space", space)
    done = stack.ragstone(*words)
    assert f"facts/{gap['id']}" in done.stdout, done.stderr
    assert owner.ask(CARAVAN)["status"] == "answered"
    assert stack.ragstone("gaps", "dismiss", other["id"], "--space", space).stdout == f"Dismissed {other['id']}.\n"
    listed = json.loads(stack.ragstone("gaps", "list", "--json", "--space", space).stdout)
    assert listed["counts"] == {"open": 0, "answered": 1, "dismissed": 1}
    assert stack.ragstone("gaps", "dismiss", "none", "--space", space).returncode == 1
