"""``python -m services.shared.models.export``: the configured model as an ONNX graph, once for all processes.

The graph holds the whole sentence-transformers pipeline. It is put in its place only after its vectors were
compared with those of sentence-transformers; what cannot be exported is noted, and torch serves it.
"""

import fcntl
import importlib.metadata
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.settings import EmbedderSettings, LogSettings, started
from services.shared.models.backends import exported_precision
from services.shared.models.exports import Refusal, export_folder, refusal, refusal_file, verified, where_exported
from services.shared.models.source import (
    E5_SMALL,
    check_official,
    model_folder,
    source_sha256,
    unavailable,
    weights_sha256,
)

BESIDE = "--beside"
"""Work at the lowest priority, and end when the standard input does: whoever started this is gone."""

MADE_BY = ("torch", "transformers", "sentence-transformers", "onnx", "onnxscript", "onnxruntime")

log = get_logger(__name__)


@dataclass(frozen=True)
class _Task:
    """What is to be exported, and where to."""

    name: str
    source: Path
    revision: str
    digest: str
    precision: str
    folder: Path
    places: tuple[Path, ...]
    """Where it may lie already: ``folder``, and before that where an image brings exports along."""
    made_by: dict[str, str]

    @property
    def exported(self) -> Path | None:
        """Where it lies whole; None when it is to be made."""
        return next((place for place in self.places if verified(place) is not None), None)

    @property
    def refused(self) -> str | None:
        """Why these very libraries cannot do it; None when that is not known."""
        noted = refusal(self.folder)
        return noted.why if noted is not None and noted.versions == self.made_by else None


def wanting(settings: EmbedderSettings) -> bool:
    """Is there an export to be made? A damaged one is to be made anew."""
    task = _task(settings)
    return task is not None and task.refused is None and task.exported is None


def export(settings: EmbedderSettings) -> Path | None:
    """The folder of the exported model, made when there is none; None when the settings need none.

    Processes that do this at the same time wait for the first. Raises MODEL_UNAVAILABLE when the model cannot be
    exported, and remembers it for as long as the libraries stay the same.
    """
    task = _task(settings)
    if task is None:
        return None
    if (exported := task.exported) is not None:
        return exported
    task.folder.parent.mkdir(parents=True, exist_ok=True)
    with _turn(task.folder):
        if verified(task.folder) is not None:
            return task.folder
        if task.refused is not None:
            raise _not_exported(task.name, task.refused)
        _make(task)
    return task.folder


def _task(settings: EmbedderSettings) -> _Task | None:
    precision = exported_precision(settings.embedder_backend, settings.embedder_precision)
    if precision is None or settings.embedder == E5_SMALL:
        return None
    source = model_folder(settings.embedder)
    revision = weights_sha256(source)
    check_official(settings.embedder, revision, source)
    digest = source_sha256(source, revision)
    return _Task(
        name=settings.embedder,
        source=source,
        revision=revision,
        digest=digest,
        precision=precision,
        folder=export_folder(settings, digest, precision),
        places=tuple(where_exported(settings, digest, precision)),
        made_by={name: _version(name) for name in MADE_BY},
    )


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _make(task: _Task) -> None:
    from services.shared.models.graph import CannotExport, make, write_manifest

    making = task.folder.with_name(f".{task.folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    try:
        exported = make(task.name, task.source, making, precision=task.precision, revision=task.revision)
        manifest = write_manifest(exported, making, source_digest=task.digest, made_by=task.made_by)
        _put_in_place(making, task.folder)
        log.info("model_exported", folder=str(task.folder), lowest_cosine=round(manifest.lowest_cosine, 7))
    except CannotExport as error:
        noted = Refusal(why=str(error), versions=task.made_by)
        refusal_file(task.folder).write_text(noted.model_dump_json(), encoding="utf-8")
        raise _not_exported(task.name, str(error)) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _put_in_place(making: Path, folder: Path) -> None:
    """Swap the folder in by one rename; a damaged one that stood there goes."""
    refusal_file(folder).unlink(missing_ok=True)
    damaged = folder.with_name(f".{folder.name}.damaged")
    shutil.rmtree(damaged, ignore_errors=True)
    if folder.exists():
        folder.rename(damaged)
    making.rename(folder)
    shutil.rmtree(damaged, ignore_errors=True)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One process at a time makes this export. The lock is the system's: it goes with the process."""
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _not_exported(name: str, why: str) -> RagstoneError:
    return unavailable(name, f"it cannot be exported to ONNX: {why}", "it is served by torch; nothing need be done")


def _end_with_the_starter() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Export what the settings in the environment name."""
    configure_logs("export", LogSettings())
    if sys.argv[1:] == [BESIDE]:
        os.nice(19)
        threading.Thread(target=_end_with_the_starter, daemon=True).start()
    try:
        folder = export(EmbedderSettings())
    except RagstoneError as error:
        log.warning("model_not_exported", why=error.detail)
        sys.exit(1)
    except OSError as error:
        log.warning("model_not_exported", why=f"{error}; set RAGSTONE_MODEL_CACHE to a folder that can be written")
        sys.exit(1)
    if folder is None:
        log.info("no_export_needed")


if __name__ == "__main__":
    started(main)
