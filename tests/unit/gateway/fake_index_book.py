"""A fake of the catalog's indexes, whose states a test decides."""

from dataclasses import dataclass, field
from typing import Any

from services.gateway.ports.indexes import Changed
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import Index, IndexEmbedder, IndexList, IndexPhase, NewIndex
from tests.unit.gateway.messages import NOON


def index_of(id: str, state: IndexPhase, **more: Any) -> Index:
    """An index of ten chunks."""
    embedder = IndexEmbedder(
        name="mini", revision="53aa", dimension=384, query_prompt="", document_prompt="", max_tokens=256
    )
    values: dict[str, Any] = {
        "vectors": 10,
        "chunks": 10,
        "lag": 0,
        "truncated": 0,
        "seconds_left": None,
        "comparison": None,
        "job_id": None,
        "reason": None,
        "promoted_at": None,
    }
    return Index(id=IndexId(id), state=state, embedder=embedder, created_at=NOON, **(values | more))


@dataclass
class FakeIndexBook:
    """``promotions`` are what each wish to promote leads to, and ``looks`` what each look sees, the last for ever."""

    wanted: list[tuple[SpaceId, NewIndex]] = field(default_factory=list)
    promotions: list[Changed | RagstoneError] = field(default_factory=list)
    looks: list[Index] = field(default_factory=list)
    asked: list[tuple[IndexId, bool]] = field(default_factory=list)
    removed: list[IndexId] = field(default_factory=list)
    kept: IndexId | None = None

    async def page(self, space: SpaceId) -> IndexList:
        return IndexList(items=self.looks, next_cursor=None, configured="mini")

    async def one(self, space: SpaceId, id: IndexId) -> Index:
        if not self.looks:
            raise RagstoneError(ErrorCode.INDEX_NOT_FOUND, f"no index {id}")
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    async def standby(self, space: SpaceId) -> IndexId:
        if self.kept is None:
            raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, "No index that served before is kept.")
        return self.kept

    async def start(self, space: SpaceId, wanted: NewIndex, request_id: str) -> Changed:
        self.wanted.append((space, wanted))
        return Changed(index_of("i2", IndexPhase.BUILDING, job_id=JobId("j2")), [JobId("j2")])

    async def promote(self, space: SpaceId, id: IndexId, *, force: bool, request_id: str) -> Changed:
        self.asked.append((id, force))
        told = self.promotions.pop(0) if len(self.promotions) > 1 else self.promotions[0]
        if isinstance(told, RagstoneError):
            raise told
        return told

    async def remove(self, space: SpaceId, id: IndexId, request_id: str) -> Changed:
        self.removed.append(id)
        return Changed(index_of(id, IndexPhase.RETIRED), [JobId("j9")])
