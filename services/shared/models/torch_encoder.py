"""The model in sentence-transformers and torch: what every other backend is held against."""

import copy
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from services.shared.models.embedder import ModelSpec, Pieces, Vectors
from services.shared.models.source import unavailable

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""What models call the prompt of their documents. sentence-transformers would take an empty ``document``, which it
adds to every model by itself, before a ``passage`` that the model does name."""

LENGTH_STEP = 16
"""Batches are padded to multiples of this many tokens. oneDNN keeps what it prepared for each shape that it met: with
every length on its own a worker grew from 690 to 1,140 MB over 2,000 texts and went on, so it stays at 615 MB and is
a sixth quicker."""

_one_load = threading.Lock()
"""While a model loads, the library changes torch's default type for every thread of the process."""


class TorchEncoder:
    """Runs the model's own modules: the bare loop gives what ``SentenceTransformer.encode`` gives (a test compares
    them) and can stop between two batches."""

    def __init__(self, model: "SentenceTransformer") -> None:
        self._model = model
        self._one_setting = threading.Lock()
        """The model's tokenizer is set up anew by each batch, so only one thread may be in it."""
        self._counter = copy.deepcopy(model.tokenizer.backend_tokenizer)
        """A tokenizer that is never set up again: any number of threads may count while another embeds."""
        self._counter.no_truncation()
        self._counter.no_padding()

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        """One batch; a prompt that the model leaves out of its pooling is left out."""
        import torch

        with torch.inference_mode():
            with self._one_setting:
                features = self._padded(self._model.preprocess(list(texts), prompt=prompt or None))
            pooled = self._model.forward(features)["sentence_embedding"].float()
            vectors: Vectors = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return vectors

    def pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        """One text at a time, so that no padding has to be told from what is the text's own."""
        import torch

        found = []
        for text in texts:
            with torch.inference_mode():
                with self._one_setting:
                    features = self._model.preprocess([text])
                    encoded = self._model.tokenizer.backend_tokenizer.encode(text)
                vectors = self._model.forward(features).get("token_embeddings")
            if vectors is None or vectors.shape[1] != len(encoded.ids):
                return None
            own = [place for place, special in enumerate(encoded.special_tokens_mask) if not special]
            rows: Vectors = vectors[0].float().numpy()[own]
            found.append(Pieces([encoded.offsets[place] for place in own], [encoded.ids[place] for place in own], rows))
        return found

    def _padded(self, features: "dict[str, torch.Tensor]") -> "dict[str, torch.Tensor]":
        """The batch with a length that others have as well; what is added is masked out."""
        import torch

        length = features["input_ids"].shape[1]
        most = self._model.max_seq_length or length
        more = min(-length % LENGTH_STEP, max(0, most - length))
        fill = {"input_ids": self._model.tokenizer.pad_token_id or 0, "attention_mask": 0, "token_type_ids": 0}
        wider = {
            name: torch.nn.functional.pad(features[name], (0, more), value=value)
            for name, value in fill.items()
            if more and name in features
        }
        return features | wider

    def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
        """In tokens, not cut."""
        return [len(encoded.ids) for encoded in self._counter.encode_batch_fast([prompt + text for text in texts])]


def load_model(name: str, folder: Path, *, precision: str, threads: int) -> "SentenceTransformer":
    """The model of the folder, ready to run; raises MODEL_UNAVAILABLE saying why it cannot be loaded."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.set_num_threads(threads)
    try:
        with _one_load:
            return SentenceTransformer(
                str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": getattr(torch, precision)}
            ).eval()
    # Whatever is wrong with a model's files surfaces here, as any type of error from three libraries.
    except Exception as error:
        raise unavailable(
            name,
            f"{folder} could not be loaded: {type(error).__name__}: {error}",
            "download it again, or name another model in RAGSTONE_EMBEDDER",
        ) from error


def spec_of(name: str, revision: str, model: "SentenceTransformer") -> ModelSpec:
    """What the model says of itself."""
    dimension = model.get_embedding_dimension()
    if dimension is None:
        raise unavailable(name, "it does not say how wide its vectors are", "name another model")
    prompts = model.prompts or {}
    return ModelSpec(
        name=name,
        revision=revision,
        dimension=dimension,
        query_prompt=prompts.get("query") or "",
        document_prompt=next((prompts[role] for role in DOCUMENT_PROMPTS if prompts.get(role)), ""),
        max_tokens=int(model.max_seq_length or 512),
    )
