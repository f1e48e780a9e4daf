"""What a document is on its way in: as it was sent, as it was read, and as it was cut."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from services.ingestor.domain.storable import storable_line, storable_lines, storable_text, storable_value
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId, chunk_id
from services.shared.contracts.places import Place

Span = tuple[int, int]
"""Start and end in the extracted text, Unicode code points, end exclusive."""

ChunkKind = Literal["fact", "negative"]
NEGATIVE: ChunkKind = "negative"

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")

METADATA_MAX = 65_536
"""Characters of a document's metadata as JSON: it is read with every listing, and is no place for content."""


@dataclass(frozen=True)
class Incoming:
    """A document as its sender described it; None is "not said"."""

    document_id: DocumentId
    blob_sha256: str
    filename: str | None
    media_type: str
    size_bytes: int
    title: str | None
    type: str | None
    tags: list[str] | None
    source: str | None
    metadata: dict[str, Any]
    origin: str | None

    @property
    def name(self) -> str:
        """What a person calls it in a reason."""
        own = self.document_id.rsplit("/", 1)[-1]
        # An underscore is put before a name that Windows reserves for a device; its owner knows it without.
        return own if self.filename == f"_{own}" else self.filename or self.document_id


@dataclass(frozen=True)
class Extracted:
    """What a parser found in the bytes. The document's own description stands behind the sender's."""

    text: str
    """The extracted text; every offset counts in it. Newlines are ``\\n``."""
    markdown: bool
    """Whether headings, tables and code in the text mean something."""
    title: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str | None = None
    warning: str | None = None
    negatives: Sequence[Span] = ()
    """Sentences that say what is not so; they stand at the end of the text and become a chunk each."""
    body_end: int | None = None
    """Where the text proper ends and the negatives' heading begins; None without negatives."""
    places: Sequence[Place] = ()
    """Pages, rows or parts of the original, by their starts; empty for kinds that have none."""
    pages: int | None = None
    """How many pages or slides the original has; None for kinds that have none."""


@dataclass(frozen=True)
class Chunk:
    """One piece of a document: ``text[lead:]`` equals ``extracted.text[start:end]``."""

    ordinal: int
    text: str
    lead: int
    start: int
    end: int
    section: str
    kind: ChunkKind
    search_text: str
    places: Sequence[Place] = ()
    """Where it stands in the original; the first one begins with the chunk."""


@dataclass(frozen=True)
class Prepared:
    """A version that is read and cut, with its final description, ready to be embedded and published."""

    incoming: Incoming
    version_id: VersionId
    title: str
    type: str | None
    tags: list[str]
    source: str | None
    metadata: dict[str, Any]
    language: str | None
    text: str
    chunks: Sequence[Chunk]
    warning: str | None

    @property
    def vector_items(self) -> list["VectorItem"]:
        """What the vector store holds of each chunk beside its vector."""
        return [
            VectorItem(
                chunk_id=chunk_id(self.version_id, chunk.ordinal),
                document_id=self.incoming.document_id,
                version_id=self.version_id,
                type=self.type,
                tags=self.tags,
                kind=chunk.kind,
            )
            for chunk in self.chunks
        ]


@dataclass(frozen=True)
class VectorItem:
    """The searchable description of one vector."""

    chunk_id: ChunkId
    document_id: DocumentId
    version_id: VersionId
    type: str | None
    tags: list[str]
    kind: ChunkKind


@dataclass(frozen=True)
class StoredChunk:
    """A live chunk as it stands in the catalog: what its vector is made from, and is described by."""

    item: VectorItem
    search_text: str


def describe(incoming: Incoming, version_id: VersionId, extracted: Extracted, chunks: Sequence[Chunk]) -> Prepared:
    """The version's final description: what the sender said wins over what the document says of itself.

    What no database stores is taken out of it. Raises RagstoneError when the metadata are too large.
    """
    metadata = storable_value({**extracted.metadata, **incoming.metadata})
    size = len(json.dumps(metadata))
    if size > METADATA_MAX:
        detail = (
            f"the metadata of {incoming.name} have {size:,} characters as JSON and the limit is {METADATA_MAX:,}; "
            "move what is long into the text"
        )
        raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
    tags = incoming.tags if incoming.tags is not None else extracted.tags
    return Prepared(
        incoming=incoming,
        version_id=version_id,
        title=title_of(incoming, extracted),
        type=storable_line(incoming.type if incoming.type is not None else extracted.type),
        tags=storable_lines(tags) or [],
        source=storable_line(incoming.source if incoming.source is not None else extracted.source),
        metadata=metadata,
        language=_said_language(metadata) or extracted.language,
        text=extracted.text,
        chunks=chunks,
        warning=extracted.warning,
    )


def kind_of_document(incoming: Incoming, extracted: Extracted) -> ChunkKind:
    """Whether the whole document says what is not so: its sender, or its front matter, calls its kind negative."""
    said = {**extracted.metadata, **incoming.metadata}.get("kind")
    return NEGATIVE if isinstance(said, str) and said.strip().casefold() == NEGATIVE else "fact"


def _said_language(metadata: Mapping[str, Any]) -> str | None:
    """What the sender or the front matter calls the language, if it is a BCP 47 tag."""
    said = (str(metadata[key]).strip() for key in ("language", "lang") if key in metadata)
    return next((tag for tag in said if _LANGUAGE_TAG.fullmatch(tag)), None)


def title_of(incoming: Incoming, extracted: Extracted) -> str:
    """The sender's title, else the document's own, else its file name without extension, else its id."""
    for said in (incoming.title, extracted.title):
        if title := storable_text(said or ""):
            return title
    stem = (incoming.filename or "").replace("\\", "/").rsplit("/", 1)[-1]
    stem = stem.rsplit(".", 1)[0] if "." in stem.lstrip(".") else stem
    words = stem.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:] or incoming.document_id
