"""Likeness of texts by the worker's own embedder."""

from collections.abc import Sequence

from services.ingestor.ports.content import Embedder


class EmbeddedLikeness:
    """Cosine similarity; the embedder's vectors have length one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        vectors = self._embedder.embed([text, *others], lambda _: True)
        return [float(value) for value in vectors[1:] @ vectors[0]]
