"""Keeping a BM25 index level with the catalog: it is caught up before each search, from the change log."""

import hashlib
import threading
from pathlib import Path

from sqlalchemy import Connection

from services.shared.catalog import changes, chunks, indexes
from services.shared.catalog.chunks import LiveChunk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.index import analyser
from services.shared.index.bm25 import Bm25Chunk, BM25Index
from services.shared.kit.logs import get_logger

CHANGES_AT_ONCE = 1000
SAVE_AFTER = 500
"""Changes after which a new snapshot is worth its time; a start catches up that many documents at most."""

log = get_logger(__name__)


class Bm25Follower:
    """The BM25 index of one space in one process. Threads may share it.

    Several processes may share the snapshot folder: each writes whole files, and the last one counts.
    """

    def __init__(self, catalog: Catalog, space: SpaceId, snapshot_folder: Path) -> None:
        self._catalog = catalog
        self._space = space
        # A client chose the space's name, so it does not become part of a path.
        self._folder = snapshot_folder / hashlib.sha256(space.encode()).hexdigest()[:32]
        self._lock = threading.Lock()
        # Index and seq are exchanged together, so that a reader never sees the one without the other.
        self._at: tuple[BM25Index, int] | None = None
        self._index_id = ""
        self._saved_seq = 0

    @property
    def seq(self) -> int:
        """The catalog's change number that the index has reached; 0 before the first use."""
        return self._at[1] if self._at else 0

    def current(self) -> BM25Index:
        """The index with everything that the catalog says is live now; raises CATALOG_UNAVAILABLE."""
        with self._catalog.read() as tx:
            if self._at is not None and self._at[1] == changes.current_seq(tx, self._space):
                return self._at[0]
        with self._lock:
            # The snapshot of the catalog is taken after the wait: another thread may have done the work meanwhile.
            with self._catalog.read() as tx:
                self._catch_up(tx)
            assert self._at is not None
            index, seq = self._at
            if seq - self._saved_seq >= SAVE_AFTER:
                self._save(index, seq)
            return index

    def _catch_up(self, tx: Connection) -> None:
        target = changes.current_seq(tx, self._space)
        serving = indexes.serving(tx, self._space)
        index_id = serving.id if serving else ""
        if self._at is None or index_id != self._index_id:
            self._index_id = index_id
            self._at = BM25Index.load(self._folder, index_id=index_id)
            self._saved_seq = self._at[1] if self._at else 0
        if self._at is None or not self._follow(tx, *self._at, target):
            self._rebuild(tx, target)

    def _follow(self, tx: Connection, index: BM25Index, seq: int, target: int) -> bool:
        """Apply the changes after ``seq``; False when the log does not lead from there to ``target``."""
        if seq > target:
            return False
        newest: dict[DocumentId, VersionId | None] = {}
        at = seq
        while at < target:
            batch = changes.since(tx, self._space, at, CHANGES_AT_ONCE)
            if not batch or batch[0].seq != at + 1:
                return False
            newest.update((change.document_id, change.version_id) for change in batch)
            at = batch[-1].seq
        for document_id, version_id in newest.items():
            live = chunks.chunks_of_version(tx, self._space, version_id) if version_id else []
            index.replace_document(document_id, [_bm25_chunk(chunk) for chunk in live])
        self._at = (index, target)
        return True

    def _rebuild(self, tx: Connection, target: int) -> None:
        index = BM25Index()
        for chunk in chunks.iter_live(tx, self._space):
            one = _bm25_chunk(chunk)
            index.add(one.chunk_id, one.tokens, document_id=one.document_id, type=one.type, tags=one.tags)
        self._at = (index, target)
        log.info("bm25_rebuilt", space=self._space, chunks=len(index), seq=target)
        if target:
            self._save(index, target)

    def _save(self, index: BM25Index, seq: int) -> None:
        try:
            index.save(self._folder, index_id=self._index_id, seq=seq)
        except OSError as error:
            # Searching goes on without a snapshot; only the next start is slower.
            log.warning("bm25_snapshot_failed", folder=str(self._folder), error=str(error))
        self._saved_seq = seq


def _bm25_chunk(chunk: LiveChunk) -> Bm25Chunk:
    return Bm25Chunk(chunk.id, analyser.tokens(chunk.search_text), chunk.document_id, chunk.type, chunk.tags)
