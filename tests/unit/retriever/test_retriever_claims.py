"""Claims checked for services without a model: order, no work for nothing, a bounded queue, failures told."""

import asyncio
import threading

import pytest

from services.retriever.adapters.grounder import AT_A_TIME, QueuedGrounder
from services.retriever.flow.ground import ClaimCheck
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.grounding import Grounding, GroundRequest, Pair

from .fakes import FakeGrounder
from .slow import SlowGrounder


def pairs(*claims: str) -> list[Pair]:
    return [Pair(claim=claim, evidence="evidence") for claim in claims]


async def test_groundings_come_in_the_order_of_the_pairs() -> None:
    check = ClaimCheck(FakeGrounder())
    response = await check.ground(GroundRequest(pairs=pairs("aaa", "b")))
    assert [one.supported for one in response.groundings] == [0.3, 0.1]


async def test_no_pair_asks_no_model() -> None:
    grounder = FakeGrounder(failure=RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "not there"))
    assert (await ClaimCheck(grounder).ground(GroundRequest(pairs=[]))).groundings == []
    with pytest.raises(RagstoneError):
        await ClaimCheck(grounder).ground(GroundRequest(pairs=pairs("a")))


async def test_a_full_queue_says_busy_and_who_leaves_is_not_worked_for() -> None:
    slow = SlowGrounder()
    queue = QueuedGrounder(lambda: slow, waiting_limit=1)  # type: ignore[arg-type, return-value]
    queue.start()
    running = asyncio.create_task(queue.ground(pairs(*"x" * (3 * AT_A_TIME))))
    await asyncio.to_thread(slow.begun.wait, 5)
    waiting = asyncio.create_task(queue.ground(pairs("waits")))
    await asyncio.sleep(0)
    with pytest.raises(RagstoneError) as busy:
        await queue.ground(pairs("one too many"))
    assert busy.value.code is ErrorCode.BUSY
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    slow.go.set()
    assert await waiting == [Grounding(supported=0.5, contradicted=0.0)]
    assert slow.calls == [AT_A_TIME, 1]
    await asyncio.to_thread(queue.close)


async def test_a_model_that_cannot_be_loaded_is_tried_again() -> None:
    attempts: list[SlowGrounder | RagstoneError] = [
        RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "not exported"),
        SlowGrounder(open_=True),
    ]

    def model() -> SlowGrounder:
        attempt = attempts.pop(0)
        if isinstance(attempt, RagstoneError):
            raise attempt
        return attempt

    queue = QueuedGrounder(model, waiting_limit=4)  # type: ignore[arg-type]
    queue.start()
    with pytest.raises(RagstoneError, match="not exported"):
        await queue.ground(pairs("a"))
    assert len(await queue.ground(pairs("a", "b"))) == 2
    await asyncio.to_thread(queue.close)
    assert not any(thread.name == "claims" for thread in threading.enumerate())
