"""Somebody who goes on asking while containers come and go, and knows the right answers."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

EVALS = Path(__file__).parents[2] / "evals" / "questions.jsonl"
FRESH = {"Cache-Control": "no-cache"}
"""Answered anew each time, so that every part is needed for every question."""
NO_CONNECTION = "no connection"


@dataclass(frozen=True)
class Known:
    """A question, and what it was answered while all was well."""

    question: str
    text: str


@dataclass(frozen=True)
class Heard:
    """What became of one question; times in monotonic seconds."""

    asked: float
    ended: float
    question: str
    failure: str | None
    """What was told instead of an answer: an error's code, writer_unavailable, or that there was no connection."""
    wrong: str | None
    """An answer that is not the right one, and does not say that something was left out or quotes what is not there."""
    degraded: tuple[str, ...]


def candidates() -> list[dict[str, Any]]:
    """Questions about the sample corpus that have an answer, with the facts that it must hold."""
    rows = [json.loads(line) for line in EVALS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["behaviour"] == "answer" and row.get("facts")]


def known(base_url: str, number: int) -> list[Known]:
    """As many of them as are wanted that this system answers rightly, with its citations."""
    found: list[Known] = []
    with httpx.Client(base_url=base_url, timeout=60, trust_env=False, headers=FRESH) as client:
        for row in candidates():
            answer = client.post("/v1/ask", json={"question": row["text"]}).json()
            held = all(any(fact in answer["text"] for fact in facts) for facts in row["facts"])
            if answer["status"] == "answered" and held and answer["citations"] and not answer["degraded"]:
                found.append(Known(row["text"], answer["text"]))
            if len(found) == number:
                return found
    raise AssertionError(f"only {len(found)} of the questions are answered rightly")


class Visitor:
    """A few people who each ask, read, and ask the next question."""

    def __init__(self, base_url: str, questions: Sequence[Known], people: int = 3, pause_s: float = 0.5) -> None:
        self._base_url = base_url
        self._questions = questions
        self._pause_s = pause_s
        self._over = threading.Event()
        self._people = [threading.Thread(target=self._go_on, args=(n,)) for n in range(people)]
        self.heard: list[Heard] = []

    def __enter__(self) -> Self:
        for one in self._people:
            one.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        for one in self._people:
            one.join()

    def since(self, at: float) -> list[Heard]:
        """Questions that ended after a moment."""
        return [one for one in list(self.heard) if one.ended >= at]

    def steady(self, seconds: float) -> bool:
        """Has everything been answered for so long?"""
        lately = self.since(time.monotonic() - seconds)
        return len(lately) >= len(self._people) and all(one.failure is None for one in lately)

    def _go_on(self, n: int) -> None:
        while not self._over.wait(self._pause_s):
            self._ask(self._questions[n % len(self._questions)])
            n += len(self._people) - 1

    def _ask(self, one: Known) -> None:
        asked = time.monotonic()
        failure: str | None = None
        wrong: str | None = None
        degraded: tuple[str, ...] = ()
        try:
            response = httpx.post(
                f"{self._base_url}/v1/ask", json={"question": one.question}, headers=FRESH, timeout=60, trust_env=False
            )
            body = response.json()
            if response.status_code != 200:
                failure = str(body["code"])
            elif body["reason"] == "writer_unavailable":
                failure = body["reason"]
            else:
                degraded = tuple(body["degraded"])
                if body["text"] != one.text and not (degraded and self._quoted(body)):
                    wrong = f"{one.question} -> {body['status']}: {body['text']}"
        except httpx.TransportError:
            failure = NO_CONNECTION
        self.heard.append(Heard(asked, time.monotonic(), one.question, failure, wrong, degraded))

    def _quoted(self, answer: dict[str, Any]) -> bool:
        """Do its quotations stand in their documents?"""
        for one in answer["citations"]:
            document = f"{self._base_url}/v1/documents/{quote(one['document_id'], safe='')}/source"
            text = httpx.get(document, params={"as": "text"}, timeout=60, trust_env=False).text
            if text[one["start"] : one["end"]] != one["quote"]:
                return False
        return True
