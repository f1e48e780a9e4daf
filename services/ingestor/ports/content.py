"""Original bytes, what reads them, and what makes and keeps their vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from services.ingestor.domain.documents import Extracted, Incoming, VectorItem
from services.shared.contracts.ids import ChunkId, SpaceId, VersionId

Vectors: TypeAlias = Any
"""One row a text, in order, cut by slices; a NumPy array in life, which this room does not look into."""

KeepGoing = Callable[[int], bool]
"""Told how many texts are done; answers whether to go on."""


class EmbeddingStopped(Exception):
    """The caller's ``keep_going`` said no."""


class Originals(Protocol):
    """The original bytes. Raises RagstoneError when they are gone or the folder cannot be used."""

    def read(self, sha256: str) -> bytes: ...
    def lines(self, sha256: str) -> Iterator[bytes]: ...
    def keep(self, data: bytes) -> None: ...


class Parsers(Protocol):
    """Reads files of every supported kind."""

    def parse(self, incoming: Incoming, data: bytes) -> Extracted:
        """Raises RagstoneError naming the file, what is wrong with it and what to do."""


class Embedder(Protocol):
    """The model; loaded at the first use. Raises RagstoneError."""

    def max_tokens(self) -> int: ...
    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...
    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Vectors:
        """Raises EmbeddingStopped within one batch after ``keep_going`` said no."""


class VectorStore(Protocol):
    """Vectors of each space. Raises RagstoneError (vector_store_unavailable, index_incompatible)."""

    def upsert(self, space: SpaceId, items: Sequence[VectorItem], vectors: Vectors) -> None: ...
    def present(self, space: SpaceId, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        """Those of the chunks that have a vector."""

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None: ...
