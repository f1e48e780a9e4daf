"""Original bytes, what reads them, and what makes and keeps their vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from services.ingestor.domain.documents import Extracted, Incoming, VectorItem
from services.shared.contracts.ids import ChunkId, IndexId, SpaceId, VersionId

Vectors: TypeAlias = Any
"""One row a text, in order, cut by slices; a NumPy array in life, which this room does not look into."""

KeepGoing = Callable[[int], bool]
"""Told how many texts are done; answers whether to go on."""


@dataclass(frozen=True)
class EmbedderIdentity:
    """Everything that decides a vector, as the index records it: two vectors compare only when all is equal."""

    name: str
    revision: str
    dimension: int
    query_prompt: str
    document_prompt: str
    max_tokens: int


@dataclass(frozen=True)
class Target:
    """The index that vectors are made for, and the one embedder that makes them."""

    space: SpaceId
    index_id: IndexId
    embedder: EmbedderIdentity


class Switched(Exception):
    """The target does not serve its space any more, or is gone; nothing of the transaction was kept."""


class EmbeddingStopped(Exception):
    """The caller's ``keep_going`` said no."""


class TakesLong(Exception):
    """A document could not be read in the time that it was given for now."""


class Originals(Protocol):
    """The original bytes. Raises RagstoneError when they are gone or the folder cannot be used."""

    def read(self, sha256: str) -> bytes: ...
    def lines(self, sha256: str) -> Iterator[bytes]: ...
    def keep(self, data: bytes) -> None: ...
    def holds(self, sha256: str) -> bool: ...


class Parsers(Protocol):
    """Reads files of every supported kind."""

    def parse(self, incoming: Incoming, data: bytes, within_s: float | None = None) -> Extracted:
        """Raises RagstoneError naming the file, what is wrong with it and what to do; TakesLong when ``within_s`` is
        less than the time that a document may take, and over."""


class Embedder(Protocol):
    """One model; loaded at the first use. Counting may go on in one thread while another embeds.

    Raises RagstoneError.
    """

    def max_tokens(self) -> int: ...
    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...
    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Vectors:
        """Raises EmbeddingStopped within one batch after ``keep_going`` said no."""


class Embedders(Protocol):
    """The models of all indexes, each loaded once a process."""

    def of(self, target: Target) -> Embedder:
        """The index's own embedder; raises RagstoneError (model_unavailable) when it is not to be had."""


class VectorStore(Protocol):
    """Vectors of each index. Raises RagstoneError (vector_store_unavailable, index_incompatible)."""

    def target(self, space: SpaceId) -> Target:
        """The index that serves the space; its first one is made here, with the embedder of the settings."""

    def named(self, space: SpaceId, index_id: IndexId) -> Target | None:
        """An index of the space that need not serve it; None when it was taken out."""

    def upsert(self, target: Target, items: Sequence[VectorItem], vectors: Vectors) -> None:
        """Raises Switched when the index was taken out."""

    def present(self, target: Target, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        """Those of the chunks that have a vector in this index."""

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        """Take these versions' vectors out of every index of the space that has a collection."""
