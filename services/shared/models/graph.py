"""A sentence-transformers model as one ONNX graph, held against the original before anybody uses it."""

import contextlib
import io
import json
import logging
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.shared.models.embedder import ModelSpec, Vectors
from services.shared.models.exports import GRAPH, MANIFEST, PIECES, TEXTS, TOKENIZER, Manifest
from services.shared.models.onnx_encoder import OnnxEncoder
from services.shared.models.source import file_sha256
from services.shared.models.torch_encoder import load_model, spec_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
ALL_PIECES = "token_embeddings"
"""What sentence-transformers calls the vectors of word pieces."""

OPSET = 20

LOWEST_COSINE = {"float32": 0.9999, "int8": 0.95}
"""By arithmetic. Rounding to eight bits changes a vector in itself; what that costs in ranking is a benchmark's
matter, and here it shows only that the graph is the same model."""

SAMPLES = (
    ("Holiday requests go to the duty manager.",),
    ("",),
    ("Parking is free after six.", "x", "C++ and 東京 and naïve café, v2.1 at 85 %"),
    ("Overtime needs written consent. " * 200, "Lost KEYS are reported the same day.", "Wer darf das?"),
    ("a\tb\nc", "Der Vertrag endet am 31. März.", "المدينة القديمة", "The conveyor belt was cleaned. " * 12),
)
"""Batches of like and unlike lengths, one over every model's limit, in several scripts."""


class CannotExport(Exception):
    """This model has no ONNX graph that does the same; says why."""


@dataclass(frozen=True)
class Exported:
    """A graph that passed the comparison, still without the hashes that its manifest needs."""

    manifest: Manifest
    folder: Path


def make(name: str, source: Path, into: Path, *, precision: str, revision: str) -> Exported:
    """Export, quantise if wanted, compare. Raises CannotExport; OSError and MemoryError pass as they are."""
    model = load_model(name, source, precision="float32", threads=1)
    spec = spec_of(name, revision, model)
    manifest = _described(model, spec, precision)
    (into / TOKENIZER).write_text(model.tokenizer.backend_tokenizer.to_str(), encoding="utf-8")
    try:
        if precision == "int8":
            whole = into / "whole"
            whole.mkdir()
            _write_graph(model, manifest, whole / GRAPH)
            _quantise(whole / GRAPH, into / GRAPH)
            shutil.rmtree(whole)
        else:
            _write_graph(model, manifest, into / GRAPH)
        worst, texts = compare(model, OnnxEncoder(into, manifest, threads=1), spec, precision)
    except (OSError, MemoryError, CannotExport):
        raise
    # The exporter, the optimiser and the runtime fail in their own ways over operations that they do not know.
    except Exception as error:
        raise CannotExport(
            f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
        ) from error
    return Exported(manifest.model_copy(update={"checked_texts": texts, "lowest_cosine": worst}), into)


def write_manifest(exported: Exported, folder: Path, *, source_digest: str, made_by: dict[str, str]) -> Manifest:
    """Hash what is in the folder and say so in it."""
    for path in folder.iterdir():
        # The retriever may run as another user than the worker that exports.
        path.chmod(0o644)
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    manifest = exported.manifest.model_copy(update={"files": files, "source": source_digest, "versions": made_by})
    (folder / MANIFEST).write_text(json.dumps(manifest.model_dump(mode="json"), indent=1), encoding="utf-8")
    return manifest


def _described(model: "SentenceTransformer", spec: ModelSpec, precision: str) -> Manifest:
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise CannotExport(f"its tokenizer {type(tokenizer).__name__} has no fast form")
    prompted = spec.query_prompt or spec.document_prompt
    if prompted and not all(getattr(module, "include_prompt", True) for module in model):
        raise CannotExport("its pooling leaves the prompt out, whose length a graph does not know")
    features = model.preprocess(["one", "two words"])
    given = {name for name in features if name != "modality"}
    if features.get("modality", "text") != "text" or not {"input_ids", "attention_mask"} <= given <= set(INPUTS):
        raise CannotExport(f"its modules take {', '.join(sorted(given))} as {features.get('modality')}")
    return Manifest(
        name=spec.name,
        revision=spec.revision,
        source="",
        precision=precision,
        dimension=spec.dimension,
        max_tokens=spec.max_tokens,
        query_prompt=spec.query_prompt,
        document_prompt=spec.document_prompt,
        modules=[_module(module) for module in model],
        normalised=True,
        inputs=[name for name in INPUTS if name in given],
        gives_pieces=_gives_pieces(model),
        pad_id=tokenizer.pad_token_id,
        pad_type_id=tokenizer.pad_token_type_id,
        pad_token=tokenizer.pad_token,
        padding_side=tokenizer.padding_side,
        truncation_side=tokenizer.truncation_side,
        files={},
        checked_texts=0,
        lowest_cosine=0.0,
        versions={},
    )


def _module(module: Any) -> str:
    """A module's name, with its way of pooling where it has one."""
    mode = getattr(module, "pooling_mode", None)
    return type(module).__name__ if mode is None else f"{type(module).__name__} ({mode})"


def _gives_pieces(model: "SentenceTransformer") -> bool:
    """Models of words without a context, and some of others' making, pass no vectors of pieces on."""
    import torch

    with torch.inference_mode():
        found = model.forward(model.preprocess(["two words"])).get(ALL_PIECES)
    return isinstance(found, torch.Tensor) and found.ndim == 3


def _write_graph(model: "SentenceTransformer", manifest: Manifest, path: Path) -> None:
    import torch

    inputs = manifest.inputs

    class Pipeline(torch.nn.Module):  # type: ignore[misc]
        """Tensors in, vectors of length 1 out, and those of the pieces."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            found = self.model.forward(dict(zip(inputs, tensors, strict=True)))
            texts = torch.nn.functional.normalize(found["sentence_embedding"].float(), dim=1)
            return (texts, found[ALL_PIECES].float()) if manifest.gives_pieces else texts

    features = model.preprocess(["a first example of some words", "a second"])
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
    with torch.inference_mode(), _quiet():
        torch.onnx.export(
            Pipeline().eval(),
            tuple(features[name] for name in inputs),
            str(path),
            input_names=inputs,
            output_names=[TEXTS, PIECES] if manifest.gives_pieces else [TEXTS],
            dynamic_shapes=(tuple({0: batch, 1: length} for _ in inputs),),
            opset_version=OPSET,
            dynamo=True,
            external_data=True,
            verbose=False,
        )


def _quantise(whole: Path, path: Path) -> None:
    """Weights of the matrix products to eight bits; activations are rounded as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with _quiet():
        quantize_dynamic(whole, path, weight_type=QuantType.QInt8, per_channel=True, use_external_data_format=True)


def compare(model: "SentenceTransformer", encoder: OnnxEncoder, spec: ModelSpec, precision: str) -> tuple[float, int]:
    """The worst cosine to sentence-transformers' own vectors over all samples with all prompts, and how many.

    Raises CannotExport when it is not good enough for this arithmetic.
    """
    worst, texts = 1.0, 0
    for prompt in sorted({spec.query_prompt, spec.document_prompt}):
        for batch in SAMPLES:
            expected: Vectors = model.encode(
                list(batch), prompt=prompt or None, normalize_embeddings=True, show_progress_bar=False
            )
            got = encoder.encode(batch, prompt)
            near = float((got * expected).sum(axis=1).min()) if got.shape == expected.shape else -1.0
            # A number that is none must not pass for the better of two.
            worst = near if not near >= worst else worst
            texts += len(batch)
    if not worst >= LOWEST_COSINE[precision]:
        raise CannotExport(f"its vectors are not those of sentence-transformers (cosine {worst:.5f})")
    return worst, texts


@contextlib.contextmanager
def _quiet() -> Any:
    """The exporter tells its progress to everybody."""
    noisy = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir", "root")]
    levels = [logger.level for logger in noisy]
    for logger in noisy:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(noisy, levels, strict=True):
            logger.setLevel(level)
