"""What is refused, and what is said of a server that does not answer."""

import socket
import time
from typing import Any

import pytest

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.index.chroma import VectorIndex, ping

from .vectors import client, item, row, rows


@pytest.mark.parametrize("configuration", [None, {"hnsw": {"space": "ip"}}])
def test_a_collection_of_another_metric_is_refused(chroma_url: str, configuration: Any) -> None:
    foreign = row()
    client(chroma_url).create_collection(foreign.collection, configuration=configuration, embedding_function=None)
    with pytest.raises(RagstoneError, match=r"measures by '(l2|ip)' and not by 'cosine'") as refused:
        VectorIndex(chroma_url, foreign).query(rows([1, 0, 0, 0]), 1)
    assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_cosine_collection_that_nobody_described_is_refused(chroma_url: str) -> None:
    foreign = row()
    client(chroma_url).create_collection(
        foreign.collection, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    with pytest.raises(RagstoneError, match="its embedder is None"):
        VectorIndex(chroma_url, foreign).count()


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
    with pytest.raises(RagstoneError, match="cannot be used: its ") as refused:
        VectorIndex(chroma_url, row(other, made.id)).count()
    assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_vectors_of_another_width_are_refused(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row())
    for use in (lambda: index.upsert([item("c")], rows([1, 0])), lambda: index.query(rows([1, 0]), 1)):
        with pytest.raises(RagstoneError, match="do not fit") as refused:
            use()
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    for use in (lambda: ping(url), lambda: VectorIndex(url, row()).count()):
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
        start = time.monotonic()
        with pytest.raises(RagstoneError) as error:
            ping(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=1)
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE
        assert time.monotonic() - start < 10
