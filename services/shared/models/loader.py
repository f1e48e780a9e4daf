"""Finding, checking and loading an embedder; ``services.shared.models.embedders`` keeps those of a process.

Importing this costs next to nothing, and loading begins with reading files: a process that starts does that in a
thread beside its other imports.
"""

import importlib.util
import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.backends import Backend, Use, cpu_flags, preferred
from services.shared.models.exports import Manifest, export_folder, exports_of, refusal, verified, where_exported
from services.shared.models.source import (
    E5_SMALL,
    check_official,
    model_folder,
    other_files,
    source_sha256,
    unavailable,
    weights_sha256,
)

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder, ModelSpec

ONNX_BATCH = {"float32": 4, "int8": 1}
"""ONNX Runtime gains little from larger batches, and keeps the memory that the largest one took: on 150-word chunks
14 a second with 4, 12 with 8, and a gigabyte with 32 (benchmarks/embedder_backends.py). In int8 a batch shares the
range that it is rounded to, so that a text alone is what its vector depends on only in a batch of one."""

log = get_logger(__name__)


def load_embedder(settings: EmbedderSettings, use: Use = Use.QUESTIONS, *, revision: str | None = None) -> "Embedder":
    """Load the model that the settings name; raises MODEL_UNAVAILABLE saying which model, why and what to do.

    ``revision`` is the one that an index recorded: files that are another one's are not loaded.
    """
    backends = preferred(settings.embedder_backend, settings.embedder_precision, use, cpu_flags())
    source = _Source(settings, revision)
    if settings.embedder == E5_SMALL:
        return _by_e5(settings, source)
    missed = ""
    for backend in backends:
        if backend.library == "torch":
            if backend is not backends[-1] and importlib.util.find_spec("sentence_transformers") is None:
                continue
            return _by_torch(settings, source, backend, missed)
        exported = source.export(backend.precision)
        if exported is not None:
            return _by_onnx(settings, *exported, backend)
        missed = f" ({source.why_no_export(backend.precision)})"
    raise source.failure or unavailable(
        settings.embedder, "it is not exported yet and torch is not installed", "start a worker once"
    )


def found_revision(settings: EmbedderSettings, use: Use = Use.QUESTIONS) -> str:
    """Which weights the name in the settings stands for now: their SHA-256. Raises MODEL_UNAVAILABLE."""
    source = _Source(settings, None)
    if source.failure is None:
        return source.revision
    for backend in preferred(settings.embedder_backend, settings.embedder_precision, use, cpu_flags()):
        exported = source.export(backend.precision) if backend.library == "onnx" else None
        if exported is not None:
            return exported[1].revision
    raise source.failure


class _Source:
    """The model's own files, if they are here, and what is exported of them."""

    def __init__(self, settings: EmbedderSettings, wanted: str | None) -> None:
        # The hub is asked only when the operator says so: a start must not hang or change because of the network.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._settings = settings
        self._wanted = wanted
        self.failure: RagstoneError | None = None
        try:
            self.folder = model_folder(settings.embedder)
            self.revision = weights_sha256(self.folder)
            check_official(settings.embedder, self.revision, self.folder)
            self._sha256 = source_sha256(self.folder, self.revision)
        except RagstoneError as error:
            self.failure = error
        if self.failure is None and wanted is not None and self.revision != wanted:
            raise other_files(settings.embedder, wanted, f"the files in {self.folder} are", self.revision)

    def export(self, precision: str) -> tuple[Path, Manifest] | None:
        """The export of these files. Where only an export is kept and not the model itself, the one of its name."""
        if self.failure is None:
            places = where_exported(self._settings, self._sha256, precision)
        else:
            places = list(exports_of(self._settings, precision))
        found = ((folder, manifest) for folder in places if (manifest := verified(folder)) is not None)
        # Each look reads the whole file: of one source, the first export will do.
        whole = list(islice(found, 1)) if self.failure is None else self._of_this_name(list(found))
        if len(whole) != 1:
            return None
        folder, manifest = whole[0]
        check_official(manifest.name, manifest.revision, folder)
        return folder, manifest

    def _of_this_name(self, found: list[tuple[Path, Manifest]]) -> list[tuple[Path, Manifest]]:
        """Raises MODEL_UNAVAILABLE when none of them is of the revision that is wanted."""
        named = [one for one in found if one[1].name == self._settings.embedder]
        if self._wanted is None or not named:
            return named
        fitting = [one for one in named if one[1].revision == self._wanted]
        if not fitting:
            folder, manifest = named[0]
            raise other_files(manifest.name, self._wanted, f"the export in {folder} is", manifest.revision)
        return fitting[:1]

    def why_no_export(self, precision: str) -> str:
        """For people: what keeps the quicker way from being taken."""
        if self.failure is None:
            refused = refusal(export_folder(self._settings, self._sha256, precision))
            if refused is not None:
                return f"it cannot be exported: {refused.why}"
        return "not exported yet"


def _by_onnx(settings: EmbedderSettings, folder: Path, manifest: Manifest, backend: Backend) -> "Embedder":
    from services.shared.models.embedder import Embedder
    from services.shared.models.onnx_encoder import OnnxEncoder

    try:
        encoder = OnnxEncoder(folder, manifest, threads=settings.torch_threads)
    # ONNX Runtime and the tokenizer raise errors of their own kinds over files that they cannot read.
    except Exception as error:
        why = f"its export {folder} could not be loaded: {type(error).__name__}: {error}"
        raise unavailable(
            settings.embedder, why, "delete that folder, or set RAGSTONE_EMBEDDER_BACKEND=torch"
        ) from error
    # Somebody may have exported the same model under another path.
    spec = replace(manifest.spec, name=settings.embedder)
    batch = min(settings.embed_batch, ONNX_BATCH[backend.precision])
    return _loaded(Embedder(encoder, _prompted(spec, settings), batch, str(backend)))


def _by_torch(settings: EmbedderSettings, source: _Source, backend: Backend, missed: str) -> "Embedder":
    from services.shared.models.embedder import Embedder
    from services.shared.models.torch_encoder import TorchEncoder, load_model, spec_of

    if source.failure is not None:
        raise source.failure
    model = load_model(settings.embedder, source.folder, precision=backend.precision, threads=settings.torch_threads)
    spec = _prompted(spec_of(settings.embedder, source.revision, model), settings)
    return _loaded(Embedder(TorchEncoder(model), spec, settings.embed_batch, f"{backend}{missed}"))


def _by_e5(settings: EmbedderSettings, source: _Source) -> "Embedder":
    from services.shared.models.e5_encoder import BATCH, ENGINE, e5_spec, load_e5
    from services.shared.models.embedder import Embedder

    if source.failure is not None:
        raise source.failure
    encoder = load_e5(source.folder, threads=settings.torch_threads)
    spec = _prompted(e5_spec(source.revision), settings)
    return _loaded(Embedder(encoder, spec, min(settings.embed_batch, BATCH), ENGINE))


def _prompted(spec: "ModelSpec", settings: EmbedderSettings) -> "ModelSpec":
    """The model with the prompts that the settings overrule."""
    return prompted(spec, settings.embedder_query_prompt, settings.embedder_document_prompt)


def prompted(spec: "ModelSpec", query_prompt: str | None, document_prompt: str | None) -> "ModelSpec":
    """The model with other prompts, None leaving its own. Raises MODEL_UNAVAILABLE where it cannot have them."""
    if query_prompt is not None:
        spec = replace(spec, query_prompt=query_prompt)
    if document_prompt is not None:
        spec = replace(spec, document_prompt=document_prompt)
    if spec.name == E5_SMALL:
        from services.shared.models.e5_encoder import check_prompts

        check_prompts(spec)
    return spec


def _loaded(embedder: "Embedder") -> "Embedder":
    log.info("embedder_loaded", name=embedder.spec.name, dimension=embedder.spec.dimension, engine=embedder.engine)
    return embedder
