"""Texts to vectors: one sentence-transformers model, fed in short batches of texts of like length."""

import copy
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.kit.logs import get_logger

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

ModelSpec: TypeAlias = EmbedderSpec
"""Which model made a vector: it is recorded with every index, and vectors of two specs never mix."""

Vectors: TypeAlias = NDArray[np.float32]

log = get_logger(__name__)


class EmbeddingStopped(Exception):
    """The caller's ``keep_going`` said no; nothing of the call is of use. ``done`` texts had been embedded."""

    def __init__(self, done: int) -> None:
        super().__init__(f"embedding was stopped after {done} texts")
        self.done = done


class Embedder:
    """A loaded model.

    Its batches are sorted by length, because a batch costs as much as its longest text times its size, and
    run through the model's own modules: the bare loop gives what ``SentenceTransformer.encode`` gives (a test
    compares them) and can stop between two batches.
    """

    def __init__(self, model: "SentenceTransformer", spec: ModelSpec, batch: int) -> None:
        self._model = model
        self._batch = batch
        self._one_batch = threading.Lock()
        """The model's tokenizer is set up anew by each call, so only one thread may be in it."""
        self._counter = copy.deepcopy(model.tokenizer.backend_tokenizer)
        """A tokenizer that is never set up again: any number of threads may count while another embeds."""
        self._counter.no_truncation()
        self._counter.no_padding()
        self.spec = spec

    def embed_documents(self, texts: Sequence[str], keep_going: Callable[[int], bool] | None = None) -> Vectors:
        """Vectors of chunks: float32, (texts, dimension), length 1, in the order of the texts.

        ``keep_going`` gets the number of texts done after each batch; when it says no, EmbeddingStopped is
        raised. A text longer than ``spec.max_tokens`` is embedded by its beginning only, and a warning is logged.
        """
        vectors, longer = self._embed([self.spec.document_prompt + text for text in texts], keep_going)
        if longer:
            log.warning("embedding_truncated", texts=longer, of=len(texts), max_tokens=self.spec.max_tokens)
        return vectors

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, with the model's prompt for them; shape and order as for documents."""
        vectors, _ = self._embed([self.spec.query_prompt + text for text in texts], None)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's tokens, special tokens included, not cut at the limit."""
        return [len(encoded.ids) for encoded in self._counter.encode_batch_fast(list(texts))]

    def _embed(self, texts: list[str], keep_going: Callable[[int], bool] | None) -> tuple[Vectors, int]:
        """The vectors, and how many texts were longer than the model reads."""
        import torch

        lengths = self.count_tokens(texts)
        order = sorted(range(len(texts)), key=lambda n: lengths[n], reverse=True)
        vectors = np.empty((len(texts), self.spec.dimension), dtype=np.float32)
        for start in range(0, len(order), self._batch):
            rows = order[start : start + self._batch]
            with self._one_batch, torch.inference_mode():
                features = self._model.preprocess([texts[n] for n in rows])
                pooled = self._model.forward(features)["sentence_embedding"].float()
                vectors[rows] = torch.nn.functional.normalize(pooled, dim=1).numpy()
            done = start + len(rows)
            if keep_going is not None and not keep_going(done):
                raise EmbeddingStopped(done)
        return vectors, sum(length > self.spec.max_tokens for length in lengths)
