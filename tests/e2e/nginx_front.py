"""An nginx before one gateway or several, as its Debian package would run it: a plain process on a free port."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from services.local.ports import free_port

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
START_S = 20.0

needs_nginx = pytest.mark.skipif(
    NGINX is None, reason="nginx is not installed here: apt-get install nginx-light, or make nginx"
)

CONFIG = """
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 768; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on;
    {more}
    upstream gateways {{ {servers} }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://gateways;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""

GZIP_ALL = "gzip_types *; gzip_proxied any; gzip_min_length 1;"
"""Compresses events too, which the package's own settings do not."""


@dataclass(frozen=True)
class NginxFront:
    """Where it listens; clients are told apart by their own address, 127.0.0.2 and on."""

    url: str

    def client(self, address: str = "127.0.0.2") -> httpx.AsyncClient:
        """A client with an address of its own."""
        transport = httpx.AsyncHTTPTransport(local_address=address)
        return httpx.AsyncClient(base_url=self.url, transport=transport, timeout=30)


@contextlib.contextmanager
def nginx_front(folder: Path, gateway_ports: Sequence[int], more: str = "") -> Iterator[NginxFront]:
    """Runs until the block ends; asks the gateways in turn."""
    assert NGINX is not None
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    config = CONFIG.format(
        # The package's own user need not be able to read a test's folder.
        user="user root;" if os.geteuid() == 0 else "",
        folder=folder,
        servers=" ".join(f"server 127.0.0.1:{one};" for one in gateway_ports),
        port=port,
        more=more,
    )
    (folder / "nginx.conf").write_text(config, encoding="utf-8")
    with (folder / "said.log").open("wb") as said:
        words = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
        process = subprocess.Popen(words, stdout=said, stderr=said)
    try:
        _wait(process, port, folder)
        yield NginxFront(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(timeout=10)


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    """Until it answers anything."""
    deadline = time.monotonic() + START_S
    while True:
        logs = [file.read_text(errors="replace") for file in folder.glob("*.log")]
        assert process.poll() is None, logs
        assert time.monotonic() < deadline, logs
        with contextlib.suppress(httpx.HTTPError):
            httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)
            return
        time.sleep(0.05)
