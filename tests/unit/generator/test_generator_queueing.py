"""The queue in front of a model, and its patience."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from services.generator.adapters.queueing import ModelQueue, paced
from services.shared.contracts.errors import ErrorCode, RagstoneError


async def test_so_many_at_once_so_many_waiting_the_rest_are_busy() -> None:
    queue = ModelQueue(parallel=2, waiting=1)
    free, inside = asyncio.Event(), 0

    async def ask() -> None:
        nonlocal inside
        async with queue.place():
            inside += 1
            await free.wait()

    asking = [asyncio.create_task(ask()) for _ in range(3)]
    await asyncio.sleep(0)
    assert inside == 2
    with pytest.raises(RagstoneError) as caught:
        await ask()
    assert (caught.value.code, caught.value.retry_after_s) == (ErrorCode.BUSY, 10)
    free.set()
    await asyncio.gather(*asking)
    assert inside == 3
    queue.check_room()


@pytest.mark.parametrize("started", [0, 1], ids=["while waiting", "while with the model"])
async def test_who_leaves_frees_the_place(started: int) -> None:
    queue = ModelQueue(parallel=1, waiting=1)

    async def stay() -> None:
        async with queue.place():
            await asyncio.sleep(60)

    asking = [asyncio.create_task(stay()) for _ in range(2)]
    await asyncio.sleep(0)
    leaving = asking[0] if started else asking[1]
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    queue.check_room()
    for one in asking:
        one.cancel()
    await asyncio.gather(*asking, return_exceptions=True)


async def parts(*pauses: float) -> AsyncGenerator[float, None]:
    """Each pause after it was waited for."""
    for pause in pauses:
        await asyncio.sleep(pause)
        yield pause


async def test_the_first_part_may_take_longer_than_the_next() -> None:
    assert [one async for one in paced(parts(0.1, 0.0), first_s=1, next_s=0.05)] == [0.1, 0.0]
    with pytest.raises(TimeoutError):
        assert [one async for one in paced(parts(0.0, 0.2), first_s=1, next_s=0.05)]
    with pytest.raises(TimeoutError):
        assert [one async for one in paced(parts(0.2), first_s=0.05, next_s=1)]


async def test_the_readers_own_time_is_not_counted_and_leaving_closes_the_source() -> None:
    source = parts(0.0, 0.0, 0.0)
    pacing = paced(source, first_s=0.05, next_s=0.05)
    await anext(pacing)
    await asyncio.sleep(0.1)
    await anext(pacing)
    await pacing.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(source)
