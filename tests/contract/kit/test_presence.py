"""Who says in a real Redis that it works, and how that is taken back."""

import subprocess
import sys
import threading

import pytest
from redis import Redis

from services.shared.kit.presence import announce, forget, present
from services.shared.kit.settings import RedisSettings

ANNOUNCED = """
import sys, threading, time
from services.shared.kit.presence import announce, present
from services.shared.kit.settings import RedisSettings
settings = RedisSettings(redis_url=sys.argv[1])
announce("leaver", "here:1:2.0", settings, threading.Event())
while not present("leaver", settings):
    time.sleep(0.05)
print("said")
"""


@pytest.fixture
def settings(redis_url: str) -> RedisSettings:
    Redis.from_url(redis_url).flushall()
    return RedisSettings(redis_url=redis_url)


def test_a_process_that_stops_takes_its_word_back(settings: RedisSettings) -> None:
    stop = threading.Event()
    thread = announce("stopper", "here:1:2.0", settings, stop)
    while not present("stopper", settings):
        assert thread.is_alive()
    stop.set()
    thread.join(5)
    assert present("stopper", settings) == 0


def test_a_process_that_ends_in_order_takes_its_word_back(settings: RedisSettings) -> None:
    command = [sys.executable, "-c", ANNOUNCED, settings.redis_url]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout == "said\n"
    assert present("leaver", settings) == 0


def test_only_those_that_are_gone_are_forgotten(settings: RedisSettings) -> None:
    client = Redis.from_url(settings.redis_url)
    for owner in ("here:1:2.0", "there:1:2.0"):
        client.set(f"ragstone:present:worker:{owner}", "1")
    forget(lambda owner: owner == "here:1:2.0", settings)
    assert client.keys("ragstone:present:*") == [b"ragstone:present:worker:there:1:2.0"]
