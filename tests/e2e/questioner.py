"""Somebody who asks twenty questions a second, and remembers every answer; and somebody who edits meanwhile."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from tests.e2e.stack import Stack

PER_SECOND = 20


@dataclass(frozen=True)
class Heard:
    """What came back of one search, when (monotonic seconds), and after how long."""

    at: float
    seconds: float
    question: str
    index: str | None
    degraded: tuple[str, ...]
    distances: dict[str, float]
    """Of the passages that the vectors found, by chunk."""
    failure: str | None


class Questioner:
    """Asks one question after the other at a steady pace, whatever the answers take."""

    def __init__(self, stack: Stack, space: str, questions: Sequence[str], per_second: int = PER_SECOND) -> None:
        self._stack = stack
        self._space = space
        self._questions = questions
        self._pause = 1 / per_second
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._ask_all()))
        self.heard: list[Heard] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    @property
    def failures(self) -> list[str]:
        return [one.failure for one in self.heard if one.failure is not None]

    def indexes(self, since: float = 0.0) -> Counter[str | None]:
        """How many answers each index gave to questions that were asked since."""
        return Counter(one.index for one in self.heard if one.at >= since)

    def figures(self) -> str:
        """For people."""
        took = sorted(one.seconds for one in self.heard)
        middle, late, worst = took[len(took) // 2], took[int(len(took) * 0.95)], took[-1]
        return (
            f"{len(took)} questions in {self.heard[-1].at - self.heard[0].at:.0f} s, {len(self.failures)} failed; "
            f"p50 {1000 * middle:.0f} ms, p95 {1000 * late:.0f} ms, longest {1000 * worst:.0f} ms"
        )

    async def _ask_all(self) -> None:
        limits = httpx.Limits(max_connections=200)
        headers = {"Ragstone-Space": self._space}
        async with httpx.AsyncClient(
            base_url=self._stack.base_url, headers=headers, timeout=30, limits=limits, trust_env=False
        ) as client:
            asked: set[asyncio.Task[None]] = set()
            due = time.monotonic()
            n = 0
            while not self._over.is_set():
                task = asyncio.create_task(self._ask(client, self._questions[n % len(self._questions)]))
                asked.add(task)
                task.add_done_callback(asked.discard)
                n += 1
                due += self._pause
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            await asyncio.gather(*asked)

    async def _ask(self, client: httpx.AsyncClient, question: str) -> None:
        began = time.monotonic()
        index, degraded, distances, failure = None, tuple[str, ...](), dict[str, float](), None
        try:
            response = await client.post("/v1/search", json={"question": question, "top_k": 10})
            body = response.json()
            if response.status_code == 200:
                index, degraded = body["index"]["id"], tuple(body["degraded"])
                found = {one["chunk_id"]: one["distance"] for one in body["passages"]}
                distances = {id: distance for id, distance in found.items() if distance is not None}
            else:
                failure = f"{response.status_code}: {body}"
        except (httpx.HTTPError, ValueError) as error:
            failure = repr(error)
        self.heard.append(Heard(began, time.monotonic() - began, question, index, degraded, distances, failure))


class Editor:
    """Publishes, replaces and deletes a few documents, over and over."""

    def __init__(self, stack: Stack, space: str, pause_s: float = 0.4) -> None:
        self._stack = stack
        self._space = space
        self._pause_s = pause_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._edit)
        self.published = 0
        self.deleted = 0
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _edit(self) -> None:
        headers = {"Ragstone-Space": self._space}
        with httpx.Client(base_url=self._stack.base_url, headers=headers, timeout=30, trust_env=False) as client:
            n = 0
            while not self._over.wait(self._pause_s):
                name = f"edited-{n % 7}"
                if n % 5 == 4:
                    response = client.delete(f"/v1/documents/{name}")
                    self.deleted += response.status_code == 200
                    known = {200, 404}
                else:
                    text = f"# Note {n}\n\nThe note of round {n} says that the tide table has edition {n}."
                    response = client.post("/v1/documents", json={"id": name, "text": text})
                    self.published += response.status_code == 202
                    known = {202}
                if response.status_code not in known:
                    self.failures.append(f"{response.status_code}: {response.text[:300]}")
                n += 1
