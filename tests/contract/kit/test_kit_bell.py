"""Ringing when nobody listens."""

import time

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import Queue
from services.shared.kit.queue import impatient_bell
from services.shared.kit.settings import JobSettings, RedisSettings


def test_without_redis_a_ring_gives_up_soon_and_says_that_nothing_is_lost() -> None:
    bell = impatient_bell(RedisSettings(redis_url="redis://127.0.0.1:1/0", redis_timeout_s=0.5), JobSettings())
    began = time.monotonic()
    with pytest.raises(RagstoneError, match="waits in the catalog") as caught:
        bell.ring(Queue.INGEST, JobId("j"), "")
    assert caught.value.code is ErrorCode.QUEUE_UNAVAILABLE
    assert time.monotonic() - began < 3
