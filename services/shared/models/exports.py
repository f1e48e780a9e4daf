"""Exported models on disk: one folder each, with a manifest that says what it was made from and what it hashes to."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from services.shared.contracts.base import Record
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.source import file_sha256

if TYPE_CHECKING:
    from services.shared.models.embedder import ModelSpec

GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
REFUSED = ".refused.json"

TEXTS = "vectors_of_length_one"
"""The graph's first output. No module of a model uses such names inside of its graph."""

PIECES = "vectors_of_pieces"
"""Its second one, where the model has vectors of word pieces: (texts, pieces, width)."""

FORMAT = 2
"""Of the folder; an export of another format is made anew under another name."""

log = get_logger(__name__)


class Manifest(Record):
    """What an exported model is, and how it was made."""

    schema_version: int = FORMAT
    name: str = Field(description="Model as it was named in the settings")
    revision: str = Field(description="SHA-256 of the source's weights, hex")
    source: str = Field(description="SHA-256 over weights, layers, pooling, tokenizer and prompts of the source, hex")
    precision: str = Field(description="float32 or int8")
    dimension: int
    max_tokens: int
    query_prompt: str = Field(description="As the model names it; settings may overrule it")
    document_prompt: str = Field(description="As the model names it; settings may overrule it")
    modules: list[str] = Field(description="The source's modules in their order, all of them in the graph")
    normalised: bool = Field(description="Vectors leave the graph with length 1")
    inputs: list[str] = Field(description="The graph's inputs")
    gives_pieces: bool = Field(description="The graph has the vectors of word pieces as a second output")
    pad_id: int
    pad_type_id: int
    pad_token: str
    padding_side: str
    truncation_side: str
    files: dict[str, str] = Field(description="SHA-256 of each file beside the manifest, hex")
    checked_texts: int = Field(description="Texts whose vectors were compared with sentence-transformers'")
    lowest_cosine: float = Field(description="Worst of these comparisons")
    versions: dict[str, str] = Field(description="Libraries that made it")

    @property
    def spec(self) -> "ModelSpec":
        """The model, as an index records it."""
        from services.shared.models.embedder import ModelSpec

        return ModelSpec(
            name=self.name,
            revision=self.revision,
            dimension=self.dimension,
            query_prompt=self.query_prompt,
            document_prompt=self.document_prompt,
            max_tokens=self.max_tokens,
        )


class Refusal(Record):
    """Why a model could not be exported, so that it is not tried again with the same libraries."""

    why: str
    versions: dict[str, str]


def cache_folder(settings: EmbedderSettings) -> Path:
    """Where exported models lie; shared by every state folder of this user."""
    if settings.model_cache is not None:
        return settings.model_cache
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragstone" / "models"


def export_folder(settings: EmbedderSettings, source: str, precision: str) -> Path:
    """Where the export of this source is to lie."""
    return cache_folder(settings) / f"{_slug(settings.embedder)}-{source[:12]}-{precision}-{FORMAT}"


def where_exported(settings: EmbedderSettings, source: str, precision: str) -> list[Path]:
    """Where the export of this source may lie, in the order in which it is looked for."""
    name = export_folder(settings, source, precision).name
    return [root / name for root in _roots(settings)]


def _roots(settings: EmbedderSettings) -> list[Path]:
    shipped = settings.shipped_models
    return [cache_folder(settings)] if shipped is None else [shipped, cache_folder(settings)]


def refusal_file(folder: Path) -> Path:
    """Where it is written that this export cannot be made."""
    return folder.with_name(folder.name + REFUSED)


def refusal(folder: Path) -> Refusal | None:
    """Why this export could not be made; None when nobody failed at it."""
    try:
        return Refusal.model_validate_json(refusal_file(folder).read_bytes())
    except (OSError, ValidationError):
        return None


def verified(folder: Path) -> Manifest | None:
    """The manifest of a whole export; None when there is none, and when a file was damaged, which is logged."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        damaged = [name for name, digest in manifest.files.items() if file_sha256(folder / name) != digest]
    except FileNotFoundError as error:
        if folder.is_dir():
            log.warning("export_damaged", folder=str(folder), why=f"{error.filename} is missing")
        return None
    except (OSError, ValidationError) as error:
        log.warning("export_damaged", folder=str(folder), why=str(error))
        return None
    if damaged:
        log.warning("export_damaged", folder=str(folder), why=f"another hash: {', '.join(damaged)}")
        return None
    return manifest


def exports_of(settings: EmbedderSettings, precision: str) -> Iterator[Path]:
    """Every export of a model of this name, whatever source it came from."""
    pattern = re.compile(rf"{re.escape(_slug(settings.embedder))}-[0-9a-f]{{12}}-{precision}-{FORMAT}")
    seen: set[str] = set()
    for root in _roots(settings):
        try:
            names = sorted(set(os.listdir(root)) - seen)
        except OSError:
            continue
        seen.update(names)
        for name in names:
            if pattern.fullmatch(name):
                yield root / name


def _slug(name: str) -> str:
    """The last part of a model's name or path, as a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name)[:60] or "model"
