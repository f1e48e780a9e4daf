"""Texts to vectors: one model, fed in short batches of texts of like length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.kit.logs import get_logger

ModelSpec: TypeAlias = EmbedderSpec
"""Which model made a vector: it is recorded with every index, and vectors of two specs never mix."""

Vectors: TypeAlias = NDArray[np.float32]

log = get_logger(__name__)


@dataclass(frozen=True)
class Pieces:
    """A text as the model reads it, cut at its limit: word pieces, each with a vector that knows its neighbours."""

    spans: list[tuple[int, int]]
    """Where each piece begins and ends in the text, in code points."""
    ids: list[int]
    """The pieces' numbers in the model's vocabulary."""
    vectors: Vectors
    """(pieces, width), as they leave the last layer, of any length; their mean points where the text's vector does."""


class Encoder(Protocol):
    """A loaded model of one library. Any number of threads may use it at the same time."""

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        """Vectors of one batch, each text after the prompt: float32, (texts, dimension), length 1."""

    def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
        """Each text with its prompt in tokens, special ones included, not cut at the model's limit."""

    def pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        """The pieces of each text of one batch, special ones left out; None when the model does not give them."""


class EmbeddingStopped(Exception):
    """The caller's ``keep_going`` said no; nothing of the call is of use. ``done`` texts had been embedded."""

    def __init__(self, done: int) -> None:
        super().__init__(f"embedding was stopped after {done} texts")
        self.done = done


@dataclass(frozen=True)
class Embedder:
    """A loaded model, its prompts and its limits.

    Batches are sorted by length, because a batch costs as much as its longest text times its size. ``engine`` says
    for people what computes the vectors, and what kept a quicker way from being taken.
    """

    encoder: Encoder
    spec: ModelSpec
    batch: int
    engine: str

    def embed_documents(self, texts: Sequence[str], keep_going: Callable[[int], bool] | None = None) -> Vectors:
        """Vectors of chunks: float32, (texts, dimension), length 1, in the order of the texts.

        ``keep_going`` gets the number of texts done after each batch; when it says no, EmbeddingStopped is
        raised. A text longer than ``spec.max_tokens`` is embedded by its beginning only, and a warning is logged.
        """
        vectors, longer = self._embed(texts, self.spec.document_prompt, keep_going)
        if longer:
            log.warning("embedding_truncated", texts=longer, of=len(texts), max_tokens=self.spec.max_tokens)
        return vectors

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, with the model's prompt for them; shape and order as for documents."""
        return self._embed(texts, self.spec.query_prompt, None)[0]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's tokens, special tokens included, not cut at the limit."""
        return self.encoder.lengths(texts, "")

    def embed_pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        """The pieces of each text, in the texts' order, without a prompt; None when the model does not give them."""
        lengths = self.encoder.lengths(texts, "")
        order = sorted(range(len(texts)), key=lambda n: lengths[n])
        found: dict[int, Pieces] = {}
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            pieces = self.encoder.pieces([texts[n] for n in rows])
            if pieces is None:
                return None
            found |= zip(rows, pieces, strict=True)
        return [found[n] for n in range(len(texts))]

    def _embed(
        self, texts: Sequence[str], prompt: str, keep_going: Callable[[int], bool] | None
    ) -> tuple[Vectors, int]:
        """The vectors, and how many texts were longer than the model reads."""
        lengths = self.encoder.lengths(texts, prompt)
        order = sorted(range(len(texts)), key=lambda n: lengths[n], reverse=True)
        vectors = np.empty((len(texts), self.spec.dimension), dtype=np.float32)
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            vectors[rows] = self.encoder.encode([texts[n] for n in rows], prompt)
            done = start + len(rows)
            if keep_going is not None and not keep_going(done):
                raise EmbeddingStopped(done)
        return vectors, sum(length > self.spec.max_tokens for length in lengths)
