"""What a container's health check says, by a real address and a real Redis."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from redis import Redis

from services.shared.kit.presence import present
from services.shared.kit.settings import RedisSettings


@contextmanager
def saying(status: int) -> Iterator[str]:
    """A door that answers with one status."""

    class Door(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/readyz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/readyz"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def said(what: str, redis_url: str = "redis://127.0.0.1:1/0") -> int:
    """The exit code of the command that a container runs."""
    words = [sys.executable, "-m", "services.shared.kit.healthcheck", what]
    return subprocess.run(words, env={**os.environ, "RAGSTONE_REDIS_URL": redis_url}, timeout=60).returncode


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (404, 1)])
def test_a_service_is_healthy_when_its_door_says_so(status: int, code: int) -> None:
    with saying(status) as address:
        assert said(address) == code


def test_a_service_that_does_not_answer_is_not() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert said(f"http://127.0.0.1:{free.getsockname()[1]}/readyz") == 1


def test_a_background_process_is_healthy_while_this_host_announces_it(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    client.flushall()
    client.set("ragstone:present:worker:elsewhere:7:1.00", "1")
    assert said("worker", redis_url) == 1, "another container's worker is not this one's"
    client.set(f"ragstone:present:worker:{socket.gethostname()}:7:1.00", "1")
    assert said("worker", redis_url) == 0
    assert said("reconciler", redis_url) == 1
    assert present("worker", RedisSettings(redis_url=redis_url)) == 2


def test_without_redis_nothing_is_known_and_so_it_is_not_healthy() -> None:
    assert said("worker") == 1
