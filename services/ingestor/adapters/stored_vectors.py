"""Chroma as the reconciler sees it: whole collections, their contents by version, and whether they are sound."""

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from services.ingestor.ports.housekeeping import StoredIndex
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, VersionId
from services.shared.index import chroma_folder, collections
from services.shared.index.chroma import VectorIndex, check_fits, incompatible, unavailable
from services.shared.index.chroma_http import (
    ChromaGoneError,
    ChromaHttp,
    ChromaShakyError,
    ChromaSilentError,
)

OURS = "ragstone-"
TIMEOUT_S = 30.0
TRIES = 3
PAUSE_S = 0.5


class ChromaStoredVectors:
    """Opens each index once; it needs no model."""

    def __init__(self, chroma_url: str, catalog: Catalog, folder: Path) -> None:
        """``folder`` is Chroma's own, where it is to be seen from here."""
        self._url = chroma_url
        self._catalog = catalog
        self._folder = folder
        self._http = ChromaHttp(chroma_url, timeout_s=TIMEOUT_S)
        self._open: dict[IndexId, VectorIndex] = {}

    def count(self, index: StoredIndex) -> int:
        return self._index(index).count()

    def sizes(self, index: StoredIndex) -> dict[VersionId, int]:
        return self._index(index).sizes()

    def delete_versions(self, index: StoredIndex, versions: Sequence[VersionId]) -> None:
        self._index(index).delete_versions(versions)

    def fault(self, index: StoredIndex) -> str | None:
        row = self._row(index.id)
        try:
            found = self._collection(index.collection)
            if found is None:
                return None
            check_fits(self._url, row, found.get("configuration_json") or {}, found.get("metadata") or {})
            width = found.get("dimension")
            if width not in (None, row.embedder.dimension):
                raise incompatible(self._url, row, f"its vectors have the width {width}, not {row.embedder.dimension}")
            return self._unreadable(str(found["id"]), row.embedder.dimension)
        except RagstoneError as error:
            if error.code is ErrorCode.INDEX_INCOMPATIBLE:
                return error.detail
            raise

    def drop(self, index: StoredIndex) -> None:
        collections.drop(self._url, index.collection)
        chroma_folder.sweep(self._folder)
        self._open.pop(index.id, None)

    def strays(self, known: Collection[str]) -> list[str]:
        names = collections.listed(self._url)
        return sorted(name for name in names if name.startswith(OURS) and name not in known)

    def _unreadable(self, collection_id: str, width: int) -> str | None:
        """What a search of the collection fails with each time, although its server answers."""
        asked = {"query_embeddings": [[1.0] * width], "n_results": 1, "include": ["distances"]}
        for attempt in range(TRIES):
            try:
                self._http.ask(collection_id, "query", asked)
                return None
            except ChromaGoneError:
                return None
            except ChromaShakyError as error:
                why = str(error)
            except ChromaSilentError as error:
                raise unavailable(self._url, str(error)) from error
            if attempt + 1 < TRIES:
                time.sleep(PAUSE_S)
        try:
            self._http.heartbeat()
        except (ChromaShakyError, ChromaSilentError) as error:
            raise unavailable(self._url, str(error)) from error
        return f"a search of it fails each time ({why[:200]})"

    def _collection(self, name: str) -> Mapping[str, Any] | None:
        try:
            return self._http.collection(name)
        except ChromaGoneError:
            return None
        except (ChromaShakyError, ChromaSilentError) as error:
            raise unavailable(self._url, str(error)) from error

    def _index(self, index: StoredIndex) -> VectorIndex:
        if index.id not in self._open:
            self._open[index.id] = VectorIndex(self._url, self._row(index.id), timeout_s=TIMEOUT_S)
        return self._open[index.id]

    def _row(self, id: IndexId) -> IndexRow:
        with self._catalog.read() as tx:
            row = indexes.find(tx, id)
        if row is None:
            raise RagstoneError(ErrorCode.INDEX_NOT_FOUND, f"the index {id} was removed meanwhile")
        return row
