"""The model's queue: bounded, questions first, nothing done for callers who left, the loop never blocked."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.domain.hits import EmbedderIdentity
from services.shared.contracts.errors import ErrorCode, RagstoneError

from .slow import SlowModel, SlowModels

BATCH = 4
FAKE = EmbedderIdentity("fake", "r1", 2, "", "")


async def until(condition: Callable[[], bool]) -> None:
    """Wait, at most five seconds, until the model's thread has got there."""
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never happened")


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


@pytest.fixture
def loader(model: SlowModel) -> SlowModels:
    return SlowModels(model)


@pytest.fixture
async def queue(loader: SlowModels) -> AsyncIterator[QueuedEmbedder]:
    embedder = QueuedEmbedder(loader, waiting_limit=3, batch=BATCH)  # type: ignore[arg-type]
    embedder.start()
    yield embedder
    loader.ready.set()
    loader.first.let_through(100)
    await asyncio.to_thread(embedder.close)


async def test_twenty_first_requests_are_one_load(model: SlowModel) -> None:
    loader = SlowModels(model, ready=False)
    queue = QueuedEmbedder(loader, waiting_limit=64, batch=BATCH)  # type: ignore[arg-type]
    queue.start()
    asked = [asyncio.create_task(queue.questions(FAKE, [f"question {n}"])) for n in range(20)]
    await asyncio.sleep(0.05)
    assert not loader.here
    assert not any(task.done() for task in asked)
    loader.ready.set()
    model.let_through(100)
    answers = await asyncio.gather(*asked)
    assert loader.loads == ["fake"]
    assert [one.vectors for one in answers] == [[[float(len(f"question {n}")), 1.0]] for n in range(20)]
    assert {one.embedder for one in answers} == {FAKE}
    await asyncio.to_thread(queue.close)


async def test_small_questions_share_a_batch(queue: QueuedEmbedder, model: SlowModel) -> None:
    first = asyncio.create_task(queue.questions(FAKE, ["first"]))
    await until(lambda: len(model.calls) == 1)
    others = [asyncio.create_task(queue.questions(FAKE, [text, text + "!"])) for text in ("b", "c", "d")]
    await asyncio.sleep(0.02)
    model.let_through(3)
    await asyncio.gather(first, *others)
    assert [texts for _, texts in model.calls] == [["first"], ["b", "b!", "c", "c!"], ["d", "d!"]]


async def test_a_full_queue_says_busy_at_once_and_says_when_to_come_back(
    queue: QueuedEmbedder, model: SlowModel
) -> None:
    running = asyncio.create_task(queue.questions(FAKE, ["running"]))
    await until(lambda: len(model.calls) == 1)
    waiting = [asyncio.create_task(queue.questions(FAKE, ["waiting"])) for _ in range(3)]
    await asyncio.sleep(0)
    began = time.perf_counter()
    with pytest.raises(RagstoneError) as caught:
        await queue.questions(FAKE, ["one too many"])
    assert time.perf_counter() - began < 1
    assert caught.value.code == ErrorCode.BUSY
    assert caught.value.retry_after_s
    model.let_through(10)
    await asyncio.gather(running, *waiting)


async def test_waiting_callers_who_leave_make_room_and_are_not_worked_for(
    queue: QueuedEmbedder, model: SlowModel
) -> None:
    running = asyncio.create_task(queue.questions(FAKE, ["running"]))
    await until(lambda: len(model.calls) == 1)
    waiting = [asyncio.create_task(queue.questions(FAKE, ["gone"])) for _ in range(3)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    late = asyncio.create_task(queue.questions(FAKE, ["late"]))
    await asyncio.sleep(0)
    model.let_through(10)
    await asyncio.gather(running, late)
    assert [texts for _, texts in model.calls] == [["running"], ["late"]]


async def test_work_for_a_caller_who_left_stops_within_one_batch(queue: QueuedEmbedder, model: SlowModel) -> None:
    task = asyncio.create_task(queue.similarities(FAKE, "question", [f"text {n}" for n in range(2000)]))
    model.let_through(1, "questions")
    model.let_through(1, "documents")
    await until(lambda: len(model.calls) == 3)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    model.let_through(100)
    assert await queue.similarities(FAKE, "q", ["after"]) == [float(1 * 5 + 1)]
    assert [len(texts) for kind, texts in model.calls if kind == "documents"] == [BATCH, BATCH, 1]


async def test_questions_never_wait_behind_texts(queue: QueuedEmbedder, model: SlowModel) -> None:
    texts = asyncio.create_task(queue.similarities(FAKE, "q", ["a" * n for n in range(1, 11)]))
    model.let_through(1, "questions")
    await until(lambda: len(model.calls) == 2)
    model.let_through(1, "questions")
    answer = await queue.questions(FAKE, ["urgent"])
    assert answer.vectors == [[6.0, 1.0]]
    assert [kind for kind, _ in model.calls] == ["questions", "documents", "questions"]
    model.let_through(10)
    assert await texts == [float(n * 1 + 1) for n in range(1, 11)]
    assert [len(call) for kind, call in model.calls if kind == "documents"] == [BATCH, BATCH, 2]


async def test_longest_texts_share_a_batch(queue: QueuedEmbedder, model: SlowModel) -> None:
    model.let_through(100)
    lengths = [3, 9, 1, 7, 5, 8]
    assert await queue.similarities(FAKE, "q", ["a" * n for n in lengths]) == [float(n + 1) for n in lengths]
    assert [[len(text) for text in call] for kind, call in model.calls if kind == "documents"] == [[9, 8, 7, 5], [3, 1]]


async def test_the_loop_stays_free_while_the_model_works(queue: QueuedEmbedder, model: SlowModel) -> None:
    task = asyncio.create_task(queue.similarities(FAKE, "question", ["text"] * 2000))
    await until(lambda: len(model.calls) == 1)
    worst = 0.0
    for _ in range(20):
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        worst = max(worst, time.perf_counter() - began)
    assert worst < 0.5
    task.cancel()


async def test_a_failed_load_is_told_and_tried_again(model: SlowModel) -> None:
    loader = SlowModels(model)
    loader.error = RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "The weights are gone.")
    queue = QueuedEmbedder(loader, waiting_limit=3, batch=BATCH)  # type: ignore[arg-type]
    queue.start()
    with pytest.raises(RagstoneError, match="weights are gone"):
        await queue.questions(FAKE, ["q"])
    assert queue.failures[FAKE].code == ErrorCode.MODEL_UNAVAILABLE
    loader.error = None
    model.let_through(1)
    await queue.questions(FAKE, ["q"])
    assert queue.failures == {}
    await asyncio.to_thread(queue.close)


async def test_a_failing_model_is_named_and_the_thread_lives_on(queue: QueuedEmbedder, model: SlowModel) -> None:
    model.error = MemoryError("too big")
    model.let_through(1)
    with pytest.raises(RagstoneError) as caught:
        await queue.questions(FAKE, ["q"])
    assert caught.value.code == ErrorCode.MODEL_UNAVAILABLE
    model.error = None
    model.let_through(1)
    assert (await queue.questions(FAKE, ["again"])).vectors == [[5.0, 1.0]]


async def test_closing_tells_whoever_waits(queue: QueuedEmbedder, model: SlowModel) -> None:
    running = asyncio.create_task(queue.questions(FAKE, ["running"]))
    await until(lambda: len(model.calls) == 1)
    waiting = asyncio.create_task(queue.questions(FAKE, ["waiting"]))
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(queue.close))
    await asyncio.sleep(0.05)
    model.let_through(1)
    await closing
    await running
    with pytest.raises(RagstoneError, match="stopping"):
        await waiting


async def test_closing_ends_texts_under_way_after_their_batch(queue: QueuedEmbedder, model: SlowModel) -> None:
    running = asyncio.create_task(queue.similarities(FAKE, "question", ["text"] * 2000))
    model.let_through(1, "questions")
    await until(lambda: len(model.calls) == 2)
    closing = asyncio.create_task(asyncio.to_thread(queue.close))
    await asyncio.sleep(0.05)
    model.let_through(1, "documents")
    await closing
    with pytest.raises(RagstoneError, match="stopping"):
        await running
    assert len(model.calls) == 2


async def test_questions_for_two_embedders_never_share_a_batch() -> None:
    one, two = SlowModel("fake"), SlowModel("other")
    other = replace(FAKE, name="other")
    queue = QueuedEmbedder(SlowModels(one, two), waiting_limit=8, batch=BATCH)  # type: ignore[arg-type]
    queue.start()
    first = asyncio.create_task(queue.questions(FAKE, ["first"]))
    await until(lambda: len(one.calls) == 1)
    mixed = [
        asyncio.create_task(queue.questions(whose, [text])) for whose, text in ((other, "b"), (FAKE, "c"), (other, "d"))
    ]
    await asyncio.sleep(0.05)
    for model in (one, two):
        model.let_through(10)
    answers = await asyncio.gather(first, *mixed)
    assert [texts for _, texts in one.calls] == [["first"], ["c"]]
    assert [texts for _, texts in two.calls] == [["b", "d"]]
    assert [answer.embedder.name for answer in answers] == ["fake", "other", "fake", "other"]
    await asyncio.to_thread(queue.close)


async def test_a_model_that_is_being_loaded_holds_up_nobody_else_and_not_too_many_wait_for_it(model: SlowModel) -> None:
    loader = SlowModels(model, SlowModel("slow"), ready=False)
    loader.here = {"fake"}
    queue = QueuedEmbedder(loader, waiting_limit=3, batch=BATCH)  # type: ignore[arg-type]
    queue.start()
    slow = [asyncio.create_task(queue.questions(replace(FAKE, name="slow"), ["q"])) for _ in range(3)]
    await until(lambda: loader.loads == ["slow"])
    model.let_through(1)
    assert (await queue.questions(FAKE, ["quick"])).embedder == FAKE
    with pytest.raises(RagstoneError) as caught:
        await queue.questions(replace(FAKE, name="slow"), ["one too many"])
    assert caught.value.code == ErrorCode.BUSY
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    loader.ready.set()
    await until(lambda: "slow" in loader.here)
    await asyncio.to_thread(queue.close)
