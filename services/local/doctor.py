"""`ragstone doctor`: what is wrong on this machine, and what to do about it. Works when nothing runs."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from services.local.api import Api, Unreachable
from services.local.binaries import chroma_server, redis_server
from services.local.ports import holder, is_free
from services.local.processes import PARTS
from services.local.settings import LocalSettings
from services.local.state import RunFolder
from services.local.stores import at_rest, compared, set_aside
from services.shared.catalog.bucket_blobs import BucketBlobs
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.settings import EmbedderSettings

Level = Literal["ok", "warn", "fail"]

DISK_FAIL_BYTES = 300_000_000
DISK_WARN_BYTES = 3_000_000_000
NEEDED: Mapping[str, str] = {
    "torch": "models",
    "sentence_transformers": "models",
    "chromadb": "local",
    "snowballstemmer": "local",
    "multipart": "gateway",
    "trafilatura": "parsers",
    "ollama": "generator",
}
"""Modules that a whole local stack imports, and the extra that brings each."""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's."""

    name: str
    level: Level
    detail: str


def examine(settings: LocalSettings, *, repair: bool = False) -> Iterator[Finding]:
    """Every check, in order; with ``repair`` the stores are made to agree with the catalog."""
    folder = RunFolder(settings.state_dir)
    yield _python(sys.version_info[:2])
    yield _modules()
    yield _binary("redis", "RAGSTONE_REDIS_URL", redis_server)
    yield _binary("chroma", "RAGSTONE_CHROMA_URL", chroma_server)
    yield _model(EmbedderSettings().embedder)
    yield _writable(folder.folder)
    yield _disk(shutil.disk_usage(_existing(folder.folder)).free)
    if settings.blobs_url:
        yield _bucket(BucketBlobs(settings.blobs_url, timeout_s=settings.blobs_timeout_s), settings.blobs_url)
    run = folder.live()
    if run is None:
        yield from _ports(settings)
        yield Finding("stack", "ok", "does not run; `ragstone up` starts it")
        stores = at_rest(settings, repair=repair)
    else:
        yield from _stack(run.url)
        stores = compared(settings, run, repair=repair)
    for found in (*set_aside(settings), *stores):
        yield Finding(found.name, found.level, found.detail)


def _python(version: tuple[int, ...]) -> Finding:
    words = ".".join(map(str, version))
    if version < (3, 11):
        return Finding("python", "fail", f"{words} is too old; install Python 3.11 or newer")
    return Finding("python", "ok", words)


def _modules() -> Finding:
    missing = {name: extra for name, extra in NEEDED.items() if importlib.util.find_spec(name) is None}
    if missing:
        return Finding(
            "packages", "fail", f"{', '.join(missing)} not installed; run `make setup` (pip install '.[local]')"
        )
    return Finding("packages", "ok", "all there")


def _binary(name: str, setting: str, find: Callable[[], str]) -> Finding:
    if os.environ.get(setting):
        return Finding(name, "ok", f"not started here: {setting} is set")
    try:
        return Finding(name, "ok", find())
    except RagstoneError as error:
        return Finding(name, "fail", error.detail)


def _model(name: str) -> Finding:
    """The embedder of new spaces: in its package, in its folder, or in the model hub's cache."""
    try:
        from services.shared.models.source import PACKAGED, check_official, model_folder, weights_sha256
    except ImportError as error:
        return Finding("model", "fail", f"{error.name} is not installed; run `make setup`")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        where = model_folder(name)
        check_official(name, weights_sha256(where), where)
    except RagstoneError as error:
        return Finding("model", "fail", error.detail)
    except OSError as error:
        return Finding("model", "fail", f"{name} cannot be read ({error.strerror}); install it again")
    return Finding("model", "ok", f"{name}, checksum as published" if name in PACKAGED else name)


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _writable(folder: Path) -> Finding:
    there = _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=there):
            return Finding("state folder", "ok", f"{folder} can be written")
    except OSError as error:
        return Finding(
            "state folder",
            "fail",
            f"{there} cannot be written ({error.strerror}); set RAGSTONE_STATE_DIR to one that can",
        )


def _disk(free: int) -> Finding:
    words = f"{free / 1e9:.1f} GB free"
    if free < DISK_FAIL_BYTES:
        return Finding("disk", "fail", f"{words}; make room, or set RAGSTONE_STATE_DIR to a folder on another disk")
    if free < DISK_WARN_BYTES:
        return Finding("disk", "warn", f"{words}; that will do for small collections only")
    return Finding("disk", "ok", words)


def _bucket(blobs: BucketBlobs, url: str) -> Finding:
    """The bucket of originals."""
    try:
        blobs.check()
        if blobs.keeps_versions():
            detail = f"{url} keeps versions of what is deleted: switch its versioning off, or have old versions expire"
            return Finding("originals", "warn", detail)
    except RagstoneError as error:
        return Finding("originals", "fail", error.detail)
    return Finding("originals", "ok", f"{url} answers")


def _ports(settings: LocalSettings) -> Iterator[Finding]:
    by_hand = {"RAGSTONE_PORT": settings.port, "RAGSTONE_REDIS_PORT": settings.redis_port}
    by_hand |= {"RAGSTONE_CHROMA_PORT": settings.chroma_port, "RAGSTONE_RETRIEVER_PORT": settings.retriever_port}
    by_hand |= {"RAGSTONE_GENERATOR_PORT": settings.generator_port}
    for part in PARTS:
        if part.port is None:
            continue
        port = by_hand.get(part.port.setting) or part.port.usual
        name = f"port {port}"
        if is_free(port):
            yield Finding(name, "ok", f"free for the {part.name}")
        elif part.port.fixed:
            yield Finding(name, "fail", f"taken by {holder(port)}; stop that, or choose another with --port")
        else:
            yield Finding(name, "warn", f"taken by {holder(port)}; the {part.name} gets a free one")


def _stack(url: str) -> Iterator[Finding]:
    try:
        with Api(url) as api:
            readiness = api.readiness()
    except (Unreachable, RagstoneError) as error:
        yield Finding("stack", "fail", f"runs but does not answer ({error}); see `ragstone status` and .ragstone/logs")
        return
    yield Finding("stack", "ok" if readiness.ready else "fail", f"runs at {url}")
    for name, part in readiness.parts.items():
        yield Finding(f"stack: {name}", "ok" if part.ready else "fail", part.detail)
