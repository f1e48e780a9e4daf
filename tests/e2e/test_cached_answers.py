"""Answers that are given again: never to another space, never after anything changed, and forgotten with a document."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
import redis

from services.local.ports import free_port
from tests.e2e.stack import ROOT, Stack, running_stack, until

CODE = "What is the depot code?"
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack whose Redis may be searched."""
    with running_stack(tmp_path_factory.mktemp("cached") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def doors(own: Stack) -> Iterator[list[str]]:
    """Addresses of the stack's gateway and of a replica of it."""
    port = str(free_port())
    services = {
        f"RAGSTONE_{name}_URL": f"{scheme}://127.0.0.1:{own.environment[f'RAGSTONE_{name}_PORT']}"
        for name, scheme in (("RETRIEVER", "http"), ("GENERATOR", "http"), ("REDIS", "redis"))
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "services.gateway"],
        cwd=ROOT,
        env={**os.environ, **own.environment, **services, "RAGSTONE_PORT": port},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"

    def up() -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
        return False

    try:
        until(up, 60)
        yield [own.base_url, url]
    finally:
        process.terminate()
        process.wait(20)


class Visitor:
    """Asks, at the one door or the other."""

    def __init__(self, doors: list[str], space: str) -> None:
        self.doors = doors
        self.headers = {"Ragstone-Space": space}

    def ask(self, question: str, door: int = 0) -> Answer:
        url = f"{self.doors[door]}/v1/ask"
        got = httpx.post(url, json={"question": question}, headers=self.headers, timeout=60, trust_env=False)
        assert got.status_code == 200, got.text
        answer: Answer = got.json()
        return answer

    def ask_until_cached(self, question: str) -> Answer:
        """The answer, when both doors give it again."""
        for door in (0, 1):
            until(lambda door=door: self.ask(question, door)["cached"], 20)  # type: ignore[misc]
        return self.ask(question)

    def versions(self, question: str, expected: str) -> set[str]:
        """Cited by answers of both doors, none of them as it was before the change."""
        answers = [self.ask(question, door) for door in (1, 0)]
        assert all(expected in one["text"] for one in answers), answers
        return {cited["version"] for one in answers for cited in one["citations"]}

    def delete(self, document_id: str) -> dict[str, Any]:
        url = f"{self.doors[0]}/v1/documents/{document_id}"
        receipt: dict[str, Any] = httpx.delete(url, headers=self.headers, timeout=60, trust_env=False).json()
        return receipt


def add(own: Stack, space: str, text: str, document_id: str, **more: Any) -> str:
    """Publish a document; its version."""
    headers = {"Ragstone-Space": space}
    with httpx.Client(base_url=own.base_url, headers=headers, timeout=60, trust_env=False) as client:
        sent = client.post("/v1/documents", json={"id": document_id, "text": text, **more})
        job = sent.json()["jobs"][0]["id"]
        last: dict[str, Any] = {}

        def over() -> bool:
            last.update(client.get(f"/v1/jobs/{job}").json())
            return last["state"] in ("succeeded", "failed")

        until(over, 60)
        assert last["state"] == "succeeded", last
        version: str = last["result"]["version"]
        return version


def holding(own: Stack, word: bytes) -> list[bytes]:
    """Redis' keys whose texts hold it."""
    client = redis.Redis(port=int(own.environment["RAGSTONE_REDIS_PORT"]))
    keys = [key for key in client.scan_iter("ragstone:*") if client.type(key) == b"string"]
    return [key for key in keys if word in (client.get(key) or b"")]


def test_no_space_is_given_what_another_one_was_told(own: Stack, doors: list[str]) -> None:
    add(own, "depot", "The depot code is 4417.", "codes")
    add(own, "stranger", "The ferry leaves at noon.", "ferry")
    told = Visitor(doors, "depot").ask_until_cached(CODE)
    assert "4417" in told["text"]
    for question in (CODE, "What is the depot's code?", "what is the depot code"):
        for door in (0, 1):
            answer = Visitor(doors, "stranger").ask(question, door)
            assert "4417" not in str(answer)
            assert answer["citations"] == []
            assert door == 1 or not answer["cached"]


def test_any_change_of_the_content_is_seen_at_once_at_every_door(own: Stack, doors: list[str]) -> None:
    space = "changes"
    visitor = Visitor(doors, space)
    first = add(own, space, "The depot code is 4417.", "codes")
    told = visitor.ask_until_cached(CODE)
    assert {cited["version"] for cited in told["citations"]} == {first}
    # Replaced.
    second = add(own, space, "The depot code is 9052.", "codes")
    assert visitor.versions(CODE, "9052") == {second}
    visitor.ask_until_cached(CODE)
    # Made anew of the same words.
    third = add(own, space, "The depot code is 9052.", "codes", tags=["depot"])
    assert visitor.versions(CODE, "9052") == {third}
    visitor.ask_until_cached(CODE)
    # Deleted, and what was given is erased with it.
    assert holding(own, b"9052")
    receipt = visitor.delete("codes")
    assert receipt["cached_answers"] >= 1, receipt
    assert holding(own, b"9052") == []
    for door in (1, 0):
        gone = visitor.ask(CODE, door)
        assert gone["status"] == "abstained", gone
        assert "9052" not in str(gone)


def test_another_index_answers_by_itself(own: Stack, doors: list[str]) -> None:
    space = "reembedded"
    visitor = Visitor(doors, space)
    add(own, space, "The depot code is 4417.", "codes")
    before = visitor.ask_until_cached(CODE)["index"]["id"]
    words = ("all-MiniLM-L6-v2", "--document-prompt", "passage: ", "--force", "--space", space, "--json")
    done = own.ragstone("reembed", *words, timeout_s=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for door in (1, 0):
        answer = visitor.ask(CODE, door)
        assert answer["index"]["id"] != before
        assert "4417" in answer["text"]


def test_not_found_is_given_again_until_a_document_answers(own: Stack, doors: list[str]) -> None:
    space = "late"
    visitor = Visitor(doors, space)
    add(own, space, "The ferry leaves at noon.", "ferry")
    assert visitor.ask_until_cached(CODE)["status"] == "abstained"
    version = add(own, space, "The depot code is 4417.", "codes")
    assert visitor.versions(CODE, "4417") == {version}


def test_what_is_given_again_can_be_judged(own: Stack, doors: list[str]) -> None:
    visitor = Visitor(doors, "judged")
    add(own, "judged", "The depot code is 4417.", "codes")
    again = visitor.ask_until_cached(CODE)
    verdict = {"answer_id": again["id"], "verdict": "good"}
    url = f"{own.base_url}/v1/feedback"

    def taken() -> bool:
        said = httpx.post(url, json=verdict, headers=visitor.headers, timeout=20, trust_env=False)
        return said.status_code == 201

    until(taken, 5)
