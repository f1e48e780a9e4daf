"""Keeping a BM25 index level with the catalog: it is caught up before each search, from the change log."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path

from sqlalchemy import Connection

from services.shared.catalog import changes, chunks, spaces
from services.shared.catalog.chunks import LiveChunk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId, chunk_id
from services.shared.index import analyser, bm25_snapshot
from services.shared.index.bm25 import Bm25Chunk, BM25Index
from services.shared.kit.logs import get_logger

CHANGES_AT_ONCE = 1000
SAVE_AFTER = 500
"""Changes after which a new snapshot is worth its time; a start catches up that many documents at most."""

SAVE_AFTER_S = 600
"""Fewer changes than that are saved with the first question after this time."""

LEFT_REMEMBERED = 1000
"""Deleted versions of which it is remembered how many chunks left the index, until the deletion asks."""

SAVE_DROPPED_AFTER_S = 10
"""A deletion drops the snapshot, which held its words; of many in a row, few bring a new one."""

log = get_logger(__name__)

# Writing a snapshot is work for one core, which questions need too: a process writes one at a time.
_writing = threading.Lock()


@dataclass(frozen=True)
class _At:
    """An index, the catalog's change number that it has reached, and the space that it was made for."""

    index: BM25Index
    seq: int
    made_for: str


class Bm25Follower:
    """The BM25 index of one space in one process. Threads may share it.

    Snapshots are written in the background, so that no question waits for one. Several processes may share the
    snapshot folder: each writes whole files, and the last one counts. None is left there that holds the words of a
    deleted document.
    """

    def __init__(self, catalog: Catalog, space: SpaceId, folder: Path, *, saves: bool = True) -> None:
        self._catalog = catalog
        self._saves = saves
        self._space = space
        self._folder = snapshot_folder(folder, space)
        self._lock = threading.Lock()
        # Exchanged as one, so that a reader never sees an index with the number of another.
        self._at: _At | None = None
        self._saved_seq = 0
        self._saved_at = time.monotonic()
        self._dropped = False
        self._left: OrderedDict[VersionId, int] = OrderedDict()
        self._saving = threading.Lock()

    @property
    def seq(self) -> int:
        """The catalog's change number that the index has reached; 0 before the first use."""
        return self._at.seq if self._at else 0

    def current(self) -> BM25Index:
        """The index with everything that the catalog says is live now; raises CATALOG_UNAVAILABLE."""
        at = self._at
        with self._catalog.read() as tx:
            level = at is not None and at.seq == changes.current_seq(tx, self._space)
        if at is None or not level:
            # The snapshot of the catalog is taken after the wait: another thread may have done the work meanwhile.
            with self._lock, self._catalog.read() as tx:
                at = self._at = self._caught_up(tx)
        self._save_when_due(at)
        return at.index

    def forget(self, versions: Collection[VersionId]) -> int:
        """Come level with the catalog, which has deleted these versions; how many of their chunks went with that.

        Those count too that went when a search came first. An index that is neither in memory nor on disk holds
        nothing, and is not made for this.
        """
        with self._lock, self._catalog.read() as tx:
            at = self._at = self._at or self._loaded(_made_for(tx, self._space))
            if at is None:
                bm25_snapshot.drop(self._folder)
                return 0
            at = self._at = self._caught_up(tx)
            left = sum(self._left.pop(version, 0) for version in versions)
        self._save_when_due(at)
        return left

    def follow_deletions(self) -> None:
        """Come level if something was deleted since: another process may be told of it, and this one never be asked
        again. Raises CATALOG_UNAVAILABLE."""
        at = self._at
        if at is None:
            return
        with self._catalog.read() as tx:
            behind = changes.removed_after(tx, self._space, at.seq)
        if behind:
            self.current()

    def close(self) -> None:
        """Save what is not saved yet, so that the next start has nothing to catch up; waits for a writing under way."""
        with self._saving:
            at = self._at
            if at is not None and at.seq != self._saved_seq:
                self._save(at)

    def _caught_up(self, tx: Connection) -> _At:
        target = changes.current_seq(tx, self._space)
        made_for = _made_for(tx, self._space)
        at = self._at
        if at is None or at.made_for != made_for:
            at = self._loaded(made_for)
        if at is not None and self._follow(tx, at, target):
            return replace(at, seq=target)
        return self._rebuilt(tx, target, made_for)

    def _loaded(self, made_for: str) -> _At | None:
        """What the snapshot holds."""
        loaded = BM25Index.load(self._folder, index_id=made_for)
        self._saved_seq = loaded[1] if loaded else 0
        return _At(*loaded, made_for) if loaded else None

    def _follow(self, tx: Connection, at: _At, target: int) -> bool:
        """Apply the changes after ``at``; False when the log does not lead from there to ``target``."""
        if at.seq > target:
            return False
        newest: dict[DocumentId, VersionId | None] = {}
        reached = at.seq
        while reached < target:
            batch = changes.since(tx, self._space, reached, CHANGES_AT_ONCE)
            if not batch or batch[0].seq != reached + 1:
                return False
            newest.update((change.document_id, change.version_id) for change in batch)
            removed = [change.old_version_id for change in batch if change.kind == "remove"]
            if removed:
                self._drop()
                self._count(at.index, [version for version in removed if version is not None])
            reached = batch[-1].seq
        for document_id, version_id in newest.items():
            live = chunks.chunks_of_version(tx, self._space, version_id) if version_id else []
            at.index.replace_document(document_id, [_bm25_chunk(chunk) for chunk in live])
        return True

    def _count(self, index: BM25Index, removed: Collection[VersionId]) -> None:
        """Remember how many chunks of these versions the index holds still."""
        for version in removed:
            # Each version's chunks are numbered from 0 without gaps.
            ids = (chunk_id(version, ordinal) for ordinal in count())
            self._left[version] = sum(1 for _ in takewhile(index.__contains__, ids))
        while len(self._left) > LEFT_REMEMBERED:
            self._left.popitem(last=False)

    def _rebuilt(self, tx: Connection, target: int, made_for: str) -> _At:
        index = BM25Index()
        for chunk in chunks.iter_live(tx, self._space):
            one = _bm25_chunk(chunk)
            index.add(one.chunk_id, one.tokens, document_id=one.document_id, type=one.type, tags=one.tags)
        log.info("bm25_rebuilt", space=self._space, chunks=len(index), seq=target)
        if target:
            # What is on disk is of no use, whatever its number: this one is saved at once.
            self._drop()
            self._saved_at = -float("inf")
        return _At(index, target, made_for)

    def _save_when_due(self, at: _At) -> None:
        if self._saves and self._due(at) and self._saving.acquire(blocking=False):
            threading.Thread(target=self._save_in_background, args=(at,), name="bm25-snapshot").start()

    def _due(self, at: _At) -> bool:
        if self._dropped:
            return time.monotonic() - self._saved_at >= SAVE_DROPPED_AFTER_S
        unsaved = at.seq - self._saved_seq
        return unsaved >= SAVE_AFTER or (unsaved > 0 and time.monotonic() - self._saved_at >= SAVE_AFTER_S)

    def _save_in_background(self, at: _At) -> None:
        try:
            with _writing:
                self._save(at)
            if at.index.untidy:
                self._tidy(at)
        except RagstoneError as error:
            # The catalog is away: the next question says so, and the index goes on as it is.
            log.warning("bm25_not_tidied", space=self._space, error=str(error))
        finally:
            self._saving.release()

    def _save(self, at: _At) -> None:
        """Write the index down as of ``at.seq``.

        It may be further on by now; those changes are then applied a second time after a start, to no effect.
        """
        try:
            at.index.save(self._folder, index_id=at.made_for, seq=at.seq)
        except OSError as error:
            # Searching goes on without a snapshot; only the next start is slower.
            log.warning("bm25_snapshot_failed", folder=str(self._folder), error=str(error))
        finally:
            with self._lock:
                if self._at is not None and self._at.made_for == at.made_for:
                    self._saved_seq, self._saved_at, self._dropped = at.seq, time.monotonic(), False
                if _outdated(self._catalog, self._space, at.seq):
                    # Another deletion came while it was written.
                    self._drop()

    def _drop(self) -> None:
        """Take the snapshot away; the next one is written before long."""
        if self._saves:
            bm25_snapshot.drop(self._folder)
        self._saved_seq, self._dropped = 0, True

    def _tidy(self, at: _At) -> None:
        """Put a tidied copy in the index's place, level with the catalog."""
        tidied = replace(at, index=at.index.tidied())
        with self._lock, self._catalog.read() as tx:
            target = changes.current_seq(tx, self._space)
            if self._at is not None and self._at.index is at.index and self._follow(tx, tidied, target):
                self._at = replace(tidied, seq=target)


def snapshot_folder(folder: Path, space: SpaceId) -> Path:
    """Where a space's snapshot lies. A client chose the space's name, so it does not become part of a path."""
    return folder / hashlib.sha256(space.encode()).hexdigest()[:32]


def saved_index(catalog: Catalog, space: SpaceId, folder: Path) -> BM25Index | None:
    """What the space's snapshot holds, brought level in memory; None where there is none. Writes nothing."""
    its = snapshot_folder(folder, space)
    if bm25_snapshot.reached(its) is None:
        return None
    follower = Bm25Follower(catalog, space, folder, saves=False)
    return follower.current()


def drop_outdated(catalog: Catalog, folder: Path, among: Collection[SpaceId]) -> None:
    """Take away these spaces' snapshots that hold words of documents deleted since: a killed process could not, and
    one that was not told of the deletion did not."""
    for space in among:
        its = snapshot_folder(folder, space)
        seq = bm25_snapshot.reached(its)
        if seq is None or _outdated(catalog, space, seq):
            bm25_snapshot.drop(its)


def _outdated(catalog: Catalog, space: SpaceId, seq: int) -> bool:
    """Was anything deleted after this change? True also while nobody can say."""
    try:
        with catalog.read() as tx:
            return changes.removed_after(tx, space, seq)
    except RagstoneError:
        return True


def _made_for(tx: Connection, space: SpaceId) -> str:
    """Names the space as long as it lives, whichever of its indexes serves: the words are the same for all."""
    made = spaces.made_at(tx, space)
    return made.isoformat() if made else ""


def _bm25_chunk(chunk: LiveChunk) -> Bm25Chunk:
    tokens = analyser.chunk_tokens(chunk.search_text, chunk.language)
    return Bm25Chunk(chunk.id, tokens, chunk.document_id, chunk.type, chunk.tags)
