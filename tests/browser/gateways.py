"""A gateway that wants keys, and a web site of somebody else that shows its widget."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from services.local.ports import free_port
from services.shared.contracts.keys import CreatedKey, NewKey
from tests.e2e.stack import Stack

HOST_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Somebody's page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/loud.css"></head>
<body><h1>Somebody's page</h1><p><a href="/">A link of theirs</a></p>
<script src="{gateway}/widget.js" data-key="{key}" data-title="Ask about Juno" data-theme="{theme}" async></script>
</body></html>
"""
LOUD = """
* { color: red !important; font-family: monospace; }
button { background: yellow !important; }
dialog { width: 10px; }
"""
"""A style sheet as one would not wish it to reach the widget."""


@dataclass(frozen=True)
class Keyed:
    """A stack after its first key, and that key's secret."""

    stack: Stack
    admin: str

    def key(self, wanted: NewKey) -> str:
        """The secret of a new key."""
        return made_key(self.stack, wanted, self.admin)


def made_key(stack: Stack, wanted: NewKey, admin: str | None) -> str:
    """The secret of a new key; the first one is made without."""
    headers = {} if admin is None else {"Authorization": f"Bearer {admin}"}
    body = wanted.model_dump(mode="json")
    response = httpx.post(f"{stack.base_url}/v1/keys", json=body, headers=headers, trust_env=False)
    assert response.status_code == 201, response.text
    return CreatedKey.model_validate(response.json()).secret


class ForeignSite:
    """A site on a port of its own, whose Content-Security-Policy allows the gateway's address and nothing else."""

    def __init__(self, gateway: str) -> None:
        self.gateway = gateway
        self.key = ""
        self.theme = "auto"
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"

    def answer(self, path: str) -> tuple[str, bytes]:
        """Media type and body."""
        if path.startswith("/loud.css"):
            return "text/css", LOUD.encode()
        page = HOST_PAGE.format(gateway=self.gateway, key=self.key, theme=self.theme)
        return "text/html; charset=utf-8", page.encode()


@contextmanager
def foreign_site(gateway: str) -> Iterator[ForeignSite]:
    """Serves it from a thread until the end."""
    site = ForeignSite(gateway)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = site.answer(self.path)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header(
                "Content-Security-Policy",
                f"default-src 'none'; style-src 'self'; script-src {gateway}; connect-src {gateway}",
            )
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", site.port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
