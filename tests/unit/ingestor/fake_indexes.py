"""Fakes of what second indexes are built with: content that changes, their record, and a power cut at any call."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from services.ingestor.domain.documents import StoredChunk, VectorItem
from services.ingestor.ports.jobs import ClaimedJob, LeaseLost
from services.ingestor.ports.reembedding import (
    Amounts,
    Behind,
    Promoted,
    Ranking,
    SecondIndex,
    Stretch,
    TakenOut,
)
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.golden import GoldSpan, Question
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, SpaceId, VersionId, chunk_id
from services.shared.contracts.indexes import IndexComparison, IndexPhase
from tests.unit.ingestor.fake_catalog import SPACE, FakeCatalog
from tests.unit.ingestor.fakes import target_named

SECOND = IndexId("two")


class PowerCutError(BaseException):
    """The worker is gone from one moment to the next."""


@dataclass
class Fuse:
    """Blows at the call of this number, before or after what it does."""

    at: int = -1
    calls: int = 0

    @contextmanager
    def around(self) -> Iterator[None]:
        self._tick()
        yield
        self._tick()

    def _tick(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise PowerCutError


@dataclass
class FakeContent:
    """Live versions with their chunks, and the log of what changed."""

    live: dict[VersionId, list[StoredChunk]] = field(default_factory=dict)
    changes: list[tuple[VersionId | None, VersionId | None]] = field(default_factory=list)
    of_document: dict[str, VersionId] = field(default_factory=dict)

    def publish(self, document: str, chunks: int = 2, words: int = 5) -> VersionId:
        """A new version of the document, in place of the one that there was."""
        version = VersionId(f"{document}-v{len(self.changes)}".ljust(12, "0"))
        items = [
            VectorItem(chunk_id(version, n), DocumentId(document), version, None, [], "fact") for n in range(chunks)
        ]
        self.live[version] = [StoredChunk(item, f"{document} {n} " + "word " * words) for n, item in enumerate(items)]
        old = self.of_document.get(document)
        if old is not None:
            del self.live[old]
        self.of_document[document] = version
        self.changes.append((version, old))
        return version

    def remove(self, document: str) -> None:
        old = self.of_document.pop(document)
        del self.live[old]
        self.changes.append((None, old))

    def chunks(self) -> list[StoredChunk]:
        return sorted((one for chunks in self.live.values() for one in chunks), key=lambda one: one.item.chunk_id)

    def ids(self) -> set[ChunkId]:
        return {one.item.chunk_id for one in self.chunks()}


class ContentCatalog(FakeCatalog):
    """A catalog whose live chunks are those of the content."""

    content: FakeContent
    fuse: Fuse
    waiting: bool = False

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        return self.content.live.get(version, [])

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return set(versions) & set(self.content.live)

    def documents_wait(self) -> bool:
        return self.waiting

    def succeed(self, job: ClaimedJob, result: dict[str, Any], warning: str | None) -> bool:
        with self.fuse.around():
            return super().succeed(job, result, warning)


class FakeSecondIndexes:
    """The catalog's record of one second index beside a serving one."""

    def __init__(self, content: FakeContent, fuse: Fuse, stolen: set[JobId]) -> None:
        self._content = content
        self._fuse = fuse
        self._stolen = stolen
        self.index: SecondIndex | None = SecondIndex(
            SECOND, SPACE, IndexPhase.BUILDING, "model of two", None, None, 0, 0, None, None, None
        )
        self.seq = 0
        self.serves = IndexId("one")
        self.load_error: RagstoneError | None = None
        self.paces: list[float] = []
        self.on_promote: Callable[[], None] = lambda: None

    @property
    def now(self) -> SecondIndex:
        assert self.index is not None
        return self.index

    def find(self, index_id: IndexId) -> SecondIndex | None:
        return self.index if index_id == SECOND else None

    def settle(self, job: ClaimedJob, index: SecondIndex) -> None:
        if self.load_error is not None:
            raise self.load_error
        with self._change(job):
            self.index = replace(index, target=target_named(index.id))
            self.seq = len(self._content.changes)

    def serving(self, space: SpaceId) -> IndexId | None:
        return self.serves

    def live_count(self, space: SpaceId) -> int:
        return len(self._content.chunks())

    def chunks_after(self, space: SpaceId, after: ChunkId | None, limit: int) -> list[StoredChunk]:
        return [one for one in self._content.chunks() if one.item.chunk_id > (after or "")][:limit]

    def behind(self, index_id: IndexId, limit: int) -> Behind:
        changes = self._content.changes
        found = changes[self.seq : self.seq + limit]
        named = list(dict.fromkeys(id for one in found for id in one if id is not None))
        live = self._content.live
        seq = self.seq + len(found)
        dead = [id for id in named if id not in live]
        return Behind(seq, len(found), [id for id in named if id in live], dead, seq < len(changes))

    def note_built(self, job: ClaimedJob, index_id: IndexId, to: ChunkId | None, amounts: Amounts, pace: float) -> None:
        with self._change(job, IndexPhase.BUILDING):
            self.index = replace(self.now, built_to=to, vectors=amounts.vectors, truncated=amounts.truncated)
            self.paces.append(pace)

    def note_followed(self, job: ClaimedJob, index_id: IndexId, seq: int, amounts: Amounts) -> None:
        with self._change(job, IndexPhase.BUILDING, IndexPhase.READY, IndexPhase.STANDBY):
            self.index = replace(self.now, vectors=amounts.vectors, truncated=amounts.truncated)
            self.seq = seq

    def ready(self, job: ClaimedJob, index_id: IndexId, comparison: IndexComparison | None, reason: str | None) -> None:
        with self._change(job, IndexPhase.BUILDING, IndexPhase.READY):
            self.index = replace(self.now, phase=IndexPhase.READY, built_to=None, comparison=comparison, reason=reason)

    def promote(self, job: ClaimedJob, index_id: IndexId) -> Promoted:
        self.on_promote()
        with self._change(job, IndexPhase.READY, IndexPhase.STANDBY):
            if self.now.promotion is None:
                return Promoted("none")
            worse = self.now.comparison is None or self.now.comparison.worse
            if worse and self.now.promotion == "asked" and self.now.phase is IndexPhase.READY:
                self.index = replace(self.now, promotion=None, reason="worse")
                return Promoted("refused", "worse")
            if self.seq < len(self._content.changes):
                return Promoted("behind")
            self.index = replace(self.now, phase=IndexPhase.SERVING, promotion=None)
            self.serves = SECOND
            return Promoted("serves")

    def forget(self, index_id: IndexId) -> None:
        with self._fuse.around():
            self.index = None

    @contextmanager
    def _change(self, job: ClaimedJob, *phases: IndexPhase) -> Iterator[None]:
        with self._fuse.around():
            if job.id in self._stolen:
                raise LeaseLost
            if phases and (self.index is None or self.index.phase not in phases):
                raise TakenOut
            yield


@dataclass
class FakeRankings:
    """Finds the answer at a rank that is chosen for each index."""

    ranks: dict[str, int] = field(default_factory=lambda: {"one": 1, "two": 1})
    degraded: dict[str, set[str]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    error: RagstoneError | None = None
    after: Callable[[], None] = lambda: None

    def look(self, space: SpaceId, question: str, index_id: IndexId, top_k: int) -> Ranking:
        if self.error is not None:
            raise self.error
        self.asked.append((index_id, question))
        self.after()
        others = [Stretch(DocumentId(f"other{n}"), 0, 10) for n in range(self.ranks[index_id] - 1)]
        found = [*others, Stretch(DocumentId("gold"), 0, 1000)][:top_k]
        return Ranking(found, self.degraded.get(index_id, set()), 1)

    @contextmanager
    def __call__(self) -> Iterator["FakeRankings"]:
        yield self


@dataclass
class FakeGolden:
    """A golden set whose answers all stand in one document."""

    questions: int = 40

    def approved(self, space: SpaceId) -> list[Question]:
        gold = [GoldSpan(document_id=DocumentId("gold"), quote="the answer")]
        return [Question(id=f"q{n}", text=f"Question {n}?", gold=gold) for n in range(self.questions)]

    def texts(self, space: SpaceId, ids: Collection[DocumentId]) -> dict[DocumentId, str]:
        return dict.fromkeys(ids, "It is the answer. " * 20)
