"""Which versions are live, kept in memory level with the catalog: hits are checked and filtered without a query.

A search may propose thousands of ids; the catalog itself is asked only for the few that are shown.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from services.shared.catalog import changes, live_versions
from services.shared.catalog.engine import Catalog
from services.shared.catalog.live_versions import LiveVersion
from services.shared.contracts.ids import ChunkId, DocumentId, SpaceId, VersionId
from services.shared.index.filters import Wanted

CHANGES_AT_ONCE = 1000
MORE_CHANGES_THAN = 5000
"""When so many changes came since, reading all live versions anew is quicker than following them."""

KEPT_FILTERS = 32
"""Filters whose versions are remembered while the catalog does not change."""


@dataclass(frozen=True, eq=False)
class Members:
    """The live versions that pass a filter, each with its number of chunks; ``chunks`` of ``total`` live ones."""

    versions: Mapping[VersionId, int]
    chunks: int
    total: int

    def holds(self, chunk_id: ChunkId) -> bool:
        """Does the chunk belong to one of the versions?"""
        return version_of(chunk_id) in self.versions


@dataclass(frozen=True)
class _Moment:
    """The catalog as of one change number."""

    seq: int
    live: Mapping[DocumentId, LiveVersion]
    passing: "OrderedDict[Wanted, Members]"


class LiveVersions:
    """The live versions of one space in one process. Threads may share it."""

    def __init__(self, catalog: Catalog, space: SpaceId) -> None:
        self._catalog = catalog
        self._space = space
        self._lock = threading.Lock()
        self._at: _Moment | None = None

    @property
    def space(self) -> SpaceId:
        return self._space

    def passing(self, wish: Wanted) -> Members:
        """The versions live now that pass the filter; raises CATALOG_UNAVAILABLE."""
        at = self._current()
        members = at.passing.get(wish)
        if members is None:
            members = _members(at.live, wish)
            with self._lock:
                at.passing[wish] = members
                while len(at.passing) > KEPT_FILTERS:
                    at.passing.popitem(last=False)
        return members

    def _current(self) -> _Moment:
        with self._catalog.read() as tx:
            if self._at is not None and self._at.seq == changes.current_seq(tx, self._space):
                return self._at
        # The snapshot is taken after the wait: another thread may have done the work meanwhile.
        with self._lock, self._catalog.read() as tx:
            target = changes.current_seq(tx, self._space)
            if self._at is None or self._at.seq != target:
                self._at = _Moment(target, self._live(tx, target), OrderedDict())
            return self._at

    def _live(self, tx: Connection, target: int) -> dict[DocumentId, LiveVersion]:
        changed = None if self._at is None else self._changed(tx, self._at.seq, target)
        if self._at is None or changed is None:
            return {one.document_id: _slim(one) for one in live_versions.all_live(tx, self._space)}
        live = {id: one for id, one in self._at.live.items() if id not in changed}
        live.update((one.document_id, _slim(one)) for one in live_versions.live_of(tx, self._space, sorted(changed)))
        return live

    def _changed(self, tx: Connection, seq: int, target: int) -> set[DocumentId] | None:
        """Documents changed after ``seq``; None when the log does not lead from there to ``target``, or leads far."""
        if not 0 <= target - seq <= MORE_CHANGES_THAN:
            return None
        changed: set[DocumentId] = set()
        while seq < target:
            batch = changes.since(tx, self._space, seq, CHANGES_AT_ONCE)
            if not batch or batch[0].seq != seq + 1:
                return None
            changed.update(change.document_id for change in batch)
            seq = batch[-1].seq
        return changed


def version_of(chunk_id: ChunkId) -> VersionId:
    """The version that a chunk belongs to, by the chunk's id (see ``contracts.ids.chunk_id``)."""
    return VersionId(chunk_id.rpartition("-")[0])


def _slim(one: LiveVersion) -> LiveVersion:
    """The same, with one copy of every type and tag in memory."""
    kind = None if one.type is None else sys.intern(one.type)
    return LiveVersion(one.id, one.document_id, kind, tuple(map(sys.intern, one.tags)), one.chunks)


def _members(live: Mapping[DocumentId, LiveVersion], wish: Wanted) -> Members:
    everything = sum(one.chunks for one in live.values())
    looked: Collection[LiveVersion] = live.values()
    if wish.documents is not None:
        looked = [live[id] for id in map(DocumentId, wish.documents) if id in live]
    versions = {one.id: one.chunks for one in looked if wish.fits(one.document_id, one.type, one.tags)}
    return Members(versions, sum(versions.values()), everything)
