"""Vectors of whole versions, kept in memory for searches among few chunks.

A chunk's vector never changes within an index, so nothing here goes out of date.
"""

import threading
from collections import OrderedDict
from collections.abc import Container, Mapping

import numpy as np

from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import ChunkId, VersionId
from services.shared.index.chroma_read import VectorReader, Vectors
from services.shared.index.live import Members, version_of
from services.shared.kit.logs import get_logger

KEPT_BYTES = 64_000_000
"""Vectors of one index: 40,000 of 384 numbers. What was not used for longest goes first."""

AT_ONCE = 500
"""Missing vectors that a search waits for, 0.1 s; more are read beside it, for the next one."""

Block = tuple[list[ChunkId], Vectors]

log = get_logger(__name__)


class KeptVectors:
    """Threads may share it. Raises what ``VectorReader`` raises."""

    def __init__(self, reader: VectorReader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._blocks: OrderedDict[VersionId, Block] = OrderedDict()
        self._bytes = 0
        self._reading: threading.Thread | None = None
        self._last: tuple[Members, Block] | None = None

    def of(self, members: Members) -> Block | None:
        """The chunks of the members that have a vector, and their vectors; None while too many are missing here."""
        last = self._last
        if last is not None and last[0] is members:
            return last[1]
        with self._lock:
            blocks = {version: self._blocks[version] for version in members.versions if version in self._blocks}
            for version in blocks:
                self._blocks.move_to_end(version)
        missing = {version: chunks for version, chunks in members.versions.items() if version not in blocks}
        if sum(missing.values()) > AT_ONCE:
            self._read_beside(missing)
            return None
        blocks |= self._read(missing)
        ids = [id for ids, _ in blocks.values() for id in ids]
        together = ids, np.concatenate([rows for _, rows in blocks.values()])
        if len(ids) == members.chunks:
            self._last = members, together
        return together

    def let_go(self, all_but: Container[VersionId]) -> None:
        """Drop the vectors of all other versions, which nothing finds any more."""
        with self._lock:
            for version in [version for version in self._blocks if version not in all_but]:
                self._bytes -= self._blocks.pop(version)[1].nbytes
                self._last = None

    def _read_beside(self, missing: Mapping[VersionId, int]) -> None:
        """One reading at a time: what another search lacks is read when it is asked for again."""

        def read() -> None:
            try:
                self._read(missing)
            except RagstoneError as error:
                log.warning("vectors_not_kept", why=error.detail)

        with self._lock:
            if self._reading is None or not self._reading.is_alive():
                self._reading = threading.Thread(target=read, name="kept-vectors", daemon=True)
                self._reading.start()

    def _read(self, missing: Mapping[VersionId, int]) -> dict[VersionId, Block]:
        if not missing:
            return {}
        ids, rows = self._reader.vectors_of(missing)
        places: dict[VersionId, list[int]] = {version: [] for version in missing}
        for place, id in enumerate(ids):
            places[version_of(id)].append(place)
        read = {version: ([ids[place] for place in mine], rows[mine]) for version, mine in places.items()}
        with self._lock:
            for version, block in read.items():
                # A version that lacks vectors gets them before long.
                if len(block[0]) == missing[version] and version not in self._blocks:
                    self._blocks[version] = block
                    self._bytes += block[1].nbytes
            while self._bytes > KEPT_BYTES:
                _, (_, old) = self._blocks.popitem(last=False)
                self._bytes -= old.nbytes
        return read
