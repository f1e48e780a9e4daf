"""How often the other services are asked how they answer, and what is known meanwhile."""

import asyncio
from dataclasses import dataclass, field

import httpx
import pytest

from services.gateway.adapters import ways
from services.gateway.adapters.ways import BESIDE_S, KNOWN_S, HttpWays
from services.gateway.domain.given import Ways
from services.shared.contracts.answers import WriterModel
from services.shared.contracts.errors import ErrorCode
from services.shared.kit.http_client import ServiceClient

EXTRACTIVE = WriterModel(writer="extractive", name=None)
OLLAMA = WriterModel(writer="ollama", name="small")


@dataclass
class Others:
    """Both services, and what time it is."""

    writer: WriterModel | None = EXTRACTIVE
    asked: list[str] = field(default_factory=list)
    now: float = 1000.0
    slow: asyncio.Event | None = None

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if self.slow is not None:
            await self.slow.wait()
        if self.writer is None:
            raise httpx.ConnectError("away")
        if request.url.path == "/tuning":
            return httpx.Response(200, json={"settings": "f1"})
        return httpx.Response(200, json={"model": self.writer.model_dump(), "settings": "w1"})


@pytest.fixture
def others() -> Others:
    return Others()


def over(others: Others) -> HttpWays:
    def client(name: str) -> ServiceClient:
        unavailable = ErrorCode.RETRIEVER_UNAVAILABLE
        transport = httpx.MockTransport(others)
        return ServiceClient(
            name=name, base_url=f"http://{name}", unavailable=unavailable, timeout_s=9, transport=transport
        )

    return HttpWays(client("retriever"), client("generator"), lambda: others.now)


async def test_their_word_is_taken_for_a_few_seconds_and_then_asked_for_beside_the_questions(others: Others) -> None:
    known = over(others)
    assert await known.now() == Ways(EXTRACTIVE, "w1", "f1")
    others.writer = OLLAMA
    others.now += KNOWN_S - 0.1
    assert await known.now() == Ways(EXTRACTIVE, "w1", "f1")
    assert sorted(others.asked) == ["/tuning", "/writer"]
    others.now += 0.2
    assert await known.now() == Ways(EXTRACTIVE, "w1", "f1")
    await asyncio.sleep(0.05)
    assert await known.now() == Ways(OLLAMA, "w1", "f1")
    assert len(others.asked) == 4


async def test_after_a_silence_nobody_is_told_an_old_word(others: Others) -> None:
    known = over(others)
    await known.now()
    others.writer = OLLAMA
    others.now += BESIDE_S
    assert await known.now() == Ways(OLLAMA, "w1", "f1")


async def test_questions_of_one_moment_ask_once(others: Others) -> None:
    known = over(others)
    await asyncio.gather(*(known.now() for _ in range(20)))
    assert len(others.asked) == 2


async def test_one_that_is_away_makes_nothing_known_until_it_is_back(others: Others) -> None:
    others.writer = None
    known = over(others)
    assert await known.now() is None
    others.writer = EXTRACTIVE
    assert await known.now() is None, "not asked again at once"
    others.now += BESIDE_S
    assert await known.now() is not None


async def test_no_question_waits_long_for_a_slow_one(others: Others, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "WAIT_S", 0.05)
    others.slow = asyncio.Event()
    known = over(others)
    async with asyncio.timeout(1):
        assert await known.now() is None
    others.slow.set()
    await asyncio.sleep(0.05)
    assert await known.now() is not None
