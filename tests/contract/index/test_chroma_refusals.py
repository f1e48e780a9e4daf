"""What is refused, and what is said of a server that does not answer."""

import socket
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.index import chroma_read
from services.shared.index.chroma import VectorIndex, ping
from services.shared.index.chroma_http import ChromaHttp, ChromaShakyError
from services.shared.index.chroma_read import VectorReader

from .vectors import client, item, reader, row, rows


@pytest.mark.parametrize("configuration", [None, {"hnsw": {"space": "ip"}}])
def test_a_collection_of_another_metric_is_refused(chroma_url: str, configuration: Any) -> None:
    foreign = row()
    client(chroma_url).create_collection(foreign.collection, configuration=configuration, embedding_function=None)
    for use in (VectorIndex(chroma_url, foreign).count, VectorReader(chroma_url, foreign).count):
        with pytest.raises(RagstoneError, match=r"measures by '(l2|ip)' and not by 'cosine'") as refused:
            use()
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_cosine_collection_that_nobody_described_is_refused(chroma_url: str) -> None:
    foreign = row()
    client(chroma_url).create_collection(
        foreign.collection, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for use in (VectorIndex(chroma_url, foreign).count, VectorReader(chroma_url, foreign).count):
        with pytest.raises(RagstoneError, match="its embedder is None"):
            use()


@pytest.mark.parametrize(
    "other",
    [
        EmbedderSpec("other", "r", 4, "", "", 256),
        EmbedderSpec("m", "other", 4, "", "", 256),
        EmbedderSpec("m", "r", 5, "", "", 256),
        EmbedderSpec("m", "r", 4, "query: ", "", 256),
    ],
)
def test_a_collection_of_another_embedder_is_refused(chroma_url: str, other: EmbedderSpec) -> None:
    made = row()
    VectorIndex(chroma_url, made).upsert([item("c")], rows([1, 0, 0, 0]))
    described = row(other, made.id)
    for use in (VectorIndex(chroma_url, described).count, VectorReader(chroma_url, described).count):
        with pytest.raises(RagstoneError, match="cannot be used: its ") as refused:
            use()
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_vectors_of_another_width_are_refused(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row())
    for use in (lambda: index.upsert([item("c")], rows([1, 0])), lambda: reader(index).query(rows([1, 0]), 1)):
        with pytest.raises(RagstoneError, match="do not fit") as refused:
            use()
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    for use in (lambda: ping(url), VectorIndex(url, row()).count, VectorReader(url, row()).count):
        with pytest.raises(RagstoneError, match="Start Chroma") as error:
            use()
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE


def test_a_server_that_hangs_later_does_not_hang_its_caller(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row(), timeout_s=1)
    index.count()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        server = index._handle._client
        server._api_url = server._api_url.replace(chroma_url, f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(RagstoneError, match="ReadTimeout") as error:
            index.count()
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE


def test_a_server_that_hangs_does_not_hang_its_caller() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        for use in (lambda: ping(url, timeout_s=0.5), VectorReader(url, row(), timeout_s=0.5).count):
            with pytest.raises(RagstoneError) as error:
                use()
            assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "http://127.0.0.1:port", "http://"])
def test_what_is_no_address(url: str) -> None:
    for use in (lambda: ping(url), VectorReader(url, row()).count):
        with pytest.raises(RagstoneError, match="correct RAGSTONE_CHROMA_URL"):
            use()


def test_what_is_no_chroma_is_not_believed() -> None:
    class Nonsense(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Nonsense) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with pytest.raises(RagstoneError, match="no JSON") as error:
            VectorReader(f"http://127.0.0.1:{server.server_port}", row()).count()
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE


def test_every_connection_of_a_server_that_is_gone_is_given_up() -> None:
    """As after a restart: more connections were kept than a reader makes attempts."""
    with socket.create_server(("127.0.0.1", 0)) as first:
        url = f"http://127.0.0.1:{first.getsockname()[1]}"
        http = ChromaHttp(url, timeout_s=5)
        for _ in range(8):
            stale = HTTPConnection("127.0.0.1", first.getsockname()[1])
            stale.connect()
            first.accept()[0].close()
            http._kept.append(stale)
        with pytest.raises(ChromaShakyError):
            http.heartbeat()
        assert not http._kept


@pytest.mark.parametrize("status", [400, 500])
def test_a_collection_that_is_half_deleted_holds_nothing(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_read, "PAUSES_S", (0.0, 0.0))

    class HalfDeleted(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"error":"ChromaError","message":"Missing field: [Missing metadata segment]"}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: Any) -> None:
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), HalfDeleted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        found = VectorReader(f"http://127.0.0.1:{server.server_port}", row()).query(rows([1, 0, 0, 0]), 1)
    finally:
        server.shutdown()
        server.server_close()
    assert found == [[]]
