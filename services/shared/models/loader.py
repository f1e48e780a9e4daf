"""Finding, checking and loading an embedder, once a process.

Importing this costs next to nothing, and loading begins with reading files: a process that starts does that in a
thread beside its other imports.
"""

import importlib.util
import os
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.backends import Backend, Use, cpu_flags, preferred
from services.shared.models.exports import Manifest, export_folder, exports_of, refusal, verified
from services.shared.models.source import check_official, model_folder, source_sha256, unavailable, weights_sha256

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder, ModelSpec

ONNX_BATCH = {"float32": 4, "int8": 1}
"""ONNX Runtime gains little from larger batches, and keeps the memory that the largest one took: on 150-word chunks
14 a second with 4, 12 with 8, and a gigabyte with 32 (benchmarks/embedder_backends.py). In int8 a batch shares the
range that it is rounded to, so that a text alone is what its vector depends on only in a batch of one."""

log = get_logger(__name__)


class LazyEmbedder:
    """The process's embedder, loaded when it is first needed, however many threads need it at once."""

    def __init__(self, settings: EmbedderSettings, use: Use = Use.QUESTIONS) -> None:
        self.settings = settings
        self._use = use
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self.loads = 0

    @property
    def loaded(self) -> bool:
        return self._embedder is not None

    def get(self) -> "Embedder":
        """The loaded embedder; waits for a load under way. A load that failed is tried again by the next call."""
        if self._embedder is None:
            with self._lock:
                if self._embedder is None:
                    self.loads += 1
                    self._embedder = load_embedder(self.settings, self._use)
        return self._embedder

    def load_ahead(self) -> None:
        """Load now, in a thread beside whatever else is to be done; who needs the model then waits for that, and
        is told if it failed."""

        def load() -> None:
            with suppress(RagstoneError):
                self.get()

        threading.Thread(target=load, name="load-model", daemon=True).start()


def load_embedder(settings: EmbedderSettings, use: Use = Use.QUESTIONS) -> "Embedder":
    """Load the model that the settings name; raises MODEL_UNAVAILABLE saying which model, why and what to do."""
    # The hub is asked only when the operator says so: a start must not hang or change because of the network.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    backends = preferred(settings.embedder_backend, settings.embedder_precision, use, cpu_flags())
    source = _Source(settings)
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
    raise unavailable(settings.embedder, "it is not exported yet and torch is not installed", "start a worker once")


class _Source:
    """The model's own files, if they are here, and what is exported of them."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self.failure: RagstoneError | None = None
        try:
            self.folder = model_folder(settings.embedder)
            self.revision = weights_sha256(self.folder)
            check_official(settings.embedder, self.revision, self.folder)
            self._sha256 = source_sha256(self.folder, self.revision)
        except RagstoneError as error:
            self.failure = error

    def export(self, precision: str) -> tuple[Path, Manifest] | None:
        """The export of these files. Where only an export is kept and not the model itself, the one of its name."""
        if self.failure is None:
            places = [export_folder(self._settings, self._sha256, precision)]
        else:
            places = list(exports_of(self._settings, precision))
        for folder in places if len(places) == 1 else ():
            manifest = verified(folder)
            if manifest is not None and (self.failure is None or manifest.name == self._settings.embedder):
                check_official(manifest.name, manifest.revision, folder)
                return folder, manifest
        return None

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


def _prompted(spec: "ModelSpec", settings: EmbedderSettings) -> "ModelSpec":
    """The model with the prompts that the settings overrule."""
    if settings.embedder_query_prompt is not None:
        spec = replace(spec, query_prompt=settings.embedder_query_prompt)
    if settings.embedder_document_prompt is not None:
        spec = replace(spec, document_prompt=settings.embedder_document_prompt)
    return spec


def _loaded(embedder: "Embedder") -> "Embedder":
    log.info("embedder_loaded", name=embedder.spec.name, dimension=embedder.spec.dimension, engine=embedder.engine)
    return embedder
