"""A gateway in memory behind a real port, for the real command."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx

from tests.unit.local.fakes import FakeGateway, FakeMeasuring

Start = Callable[..., subprocess.Popen[str]]
"""The command with these words, begun in a process of its own."""


@contextmanager
def served(gateway: FakeGateway) -> Iterator[str]:
    """Its address, while the block lasts."""
    answers = gateway.transport()

    class Door(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            url = f"http://{self.headers['Host']}{self.path}"
            request = httpx.Request(self.command, url, headers=dict(self.headers), content=body)
            try:
                answer = answers.handle_request(request)
            except httpx.ConnectError:
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def started(gateway: FakeMeasuring) -> dict[str, Any]:
    """The one evaluation that was asked for."""
    (body,) = (body for method, path, _, body in gateway.asked if (method, path) == ("POST", "/v1/evaluations"))
    assert isinstance(body, dict)
    return body
