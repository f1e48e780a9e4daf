"""What a backup looks like: a gzipped tar of the catalog's rows as lines of JSON, the originals and the profile.

The first member says what it is, the last one what all the others are: a file that was cut off has no last one.

    backup.json                     Head
    catalog/TABLE/000001.ndjson     rows of a table, one JSON array a line, parents before children
    blobs/SHA256                    originals under their own checksum
    profile.yaml                    where there is one
    manifest.json                   Manifest

Nothing in it belongs to one database: SQLite's go into PostgreSQL and back.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Record
from services.shared.contracts.errors import ErrorCode, RagstoneError

FORMAT = 1
HEAD, MANIFEST, PROFILE = "backup.json", "manifest.json", "profile.yaml"
ROWS, BLOBS = "catalog/", "blobs/"
NAMED = 20
"""So many of the originals that are not in it are named."""


class Kind(StrEnum):
    """What a column holds, in words that no database owns."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    MOMENT = "moment"
    JSON = "json"


class ColumnForm(Record):
    """A column as the schema of the backup has it."""

    name: str
    kind: Kind


class TableForm(Record):
    """A table; each of its rows is an array in the order of the columns."""

    name: str
    columns: list[ColumnForm]


class EmbedderInUse(Record):
    """An index, whose vectors are not in the backup: this model makes them again."""

    space: str
    index: str
    state: str
    name: str
    revision: str | None = Field(description="SHA-256 of its weights; null before it was loaded once")
    dimension: int | None


class Head(Record):
    """What the file is, known before anything else is read."""

    format: int
    ragstone: str = Field(description="Version of the program that made it")
    made_at: datetime
    database: str = Field(description="sqlite or postgresql; it does not matter for a restore")
    schema_revision: str
    pipeline: str = Field(description="How that program read and cut documents")
    tables: list[TableForm]
    embedders: list[EmbedderInUse]


class Member(Record):
    """A member that is no original."""

    name: str
    bytes: int
    sha256: str


class Manifest(Record):
    """What the file holds, to be compared with what was read."""

    members: list[Member]
    rows: dict[str, int]
    blobs: int
    blob_bytes: int
    blob_names: str = Field(description="SHA-256 over the names of the originals, in their order, a line each")
    spaces: int
    documents: int = Field(description="Those that answer")
    chunks: int = Field(description="Of all versions")
    left_out: int = Field(description="Originals that were deleted meanwhile, or lost or damaged before")
    left_out_some: list[str]


def several(number: int, word: str, words: str | None = None) -> str:
    """A number with its word."""
    return f"{number:,} {word if number == 1 else words or f'{word}s'}"


def rows_member(table: str, part: int) -> str:
    """The name of a part of a table's rows."""
    return f"{ROWS}{table}/{part:06d}.ndjson"


def damaged(file: object, what: str) -> RagstoneError:
    """The file is not what was written; nothing was changed."""
    detail = f"{file} is no sound backup: {what}. Nothing was changed; take another copy of it, or an earlier backup"
    return RagstoneError(ErrorCode.BACKUP_DAMAGED, detail)
