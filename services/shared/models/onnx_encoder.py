"""An exported model in ONNX Runtime: no torch, a third of the memory, ready in a moment."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.shared.models.embedder import Pieces, Vectors
from services.shared.models.exports import GRAPH, PIECES, TEXTS, TOKENIZER, Manifest

if TYPE_CHECKING:
    from tokenizers import Encoding


class OnnxEncoder:
    """The exported graph holds the whole model: layers, pooling, normalisation."""

    def __init__(self, folder: Path, manifest: Manifest, *, threads: int) -> None:
        """Reads the files as they are: whether they are the right ones is checked by ``exports.verified``."""
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        # Two tokenizers that are never set up again, so that threads need not wait for each other.
        self._cutter = Tokenizer.from_str(self._tokenizer.to_str())
        self._cutter.enable_truncation(manifest.max_tokens, direction=manifest.truncation_side)
        self._cutter.enable_padding(
            direction=manifest.padding_side,
            pad_id=manifest.pad_id,
            pad_type_id=manifest.pad_type_id,
            pad_token=manifest.pad_token,
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A thread that waits for work must not keep a processor busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(folder / GRAPH), options, providers=["CPUExecutionProvider"])
        self._inputs = manifest.inputs
        self._gives_pieces = manifest.gives_pieces

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        """One batch."""
        vectors: Vectors = self._run(TEXTS, self._cutter.encode_batch([prompt + text for text in texts]))
        return vectors

    def pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        """One batch; None for a graph that has no pieces."""
        if not self._gives_pieces:
            return None
        encoded = self._cutter.encode_batch(list(texts))
        return [_own(one, rows) for one, rows in zip(encoded, self._run(PIECES, encoded), strict=True)]

    def _run(self, output: str, encoded: Sequence["Encoding"]) -> Vectors:
        columns = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        feed = {name: np.asarray(columns[name], dtype=np.int64) for name in self._inputs}
        vectors: Vectors = self._session.run([output], feed)[0]
        return vectors

    def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
        """In tokens, not cut."""
        return [len(encoded.ids) for encoded in self._tokenizer.encode_batch_fast([prompt + text for text in texts])]


def _own(encoded: "Encoding", rows: Vectors) -> Pieces:
    """The pieces that are the text's own: neither padding nor marks of begin and end."""
    own = [place for place, special in enumerate(encoded.special_tokens_mask) if not special]
    return Pieces([encoded.offsets[place] for place in own], [encoded.ids[place] for place in own], rows[own])
