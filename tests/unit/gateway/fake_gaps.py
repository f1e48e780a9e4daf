"""Fakes of what notes questions without an answer: the book, who is like whom, and who asked what before."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.gateway.domain.gaps import OpenQuestion
from services.gateway.ports.gaps import Head
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.gaps import Gap, GapList, GapState
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from tests.unit.gateway.messages import NOON


@dataclass
class FakeGapBook:
    gaps: dict[tuple[SpaceId, str], Gap] = field(default_factory=dict)
    keys: dict[tuple[SpaceId, str], str] = field(default_factory=dict)
    noted: list[OpenQuestion] = field(default_factory=list)
    error: Exception | None = None

    async def known(self, space: SpaceId, key: str) -> str | None:
        if self.error is not None:
            raise self.error
        return self.keys.get((space, key))

    async def heads(self, space: SpaceId) -> list[Head]:
        return [Head(gap.id, gap.question) for (where, _), gap in self.gaps.items() if where == space]

    async def note(self, noted: OpenQuestion, key: str, gap: str | None) -> str | None:
        self.noted.append(noted)
        id = gap or f"n{len(self.gaps)}"
        self.keys[(noted.space, key)] = id
        known = self.gaps.get((noted.space, id)) or self.hold(id, noted.question, space=noted.space)
        counts = {"asked": known.asked + (not noted.judged_bad), "judged_bad": known.judged_bad + noted.judged_bad}
        titles = [title for _, title in noted.nearest]
        self.gaps[(noted.space, id)] = known.model_copy(update=counts | {"nearest": titles})
        return id

    async def page(
        self, space: SpaceId, *, states: Sequence[GapState] | None, limit: int, cursor: str | None
    ) -> GapList:
        mine = [gap for (where, _), gap in self.gaps.items() if where == space]
        counts = {state: sum(gap.state is state for gap in mine) for state in GapState}
        shown = [gap for gap in mine if states is None or gap.state in states]
        return GapList(items=shown[:limit], next_cursor=None, counts=counts)

    async def one(self, space: SpaceId, id: str) -> Gap:
        if (space, id) not in self.gaps:
            raise RagstoneError(ErrorCode.GAP_NOT_FOUND, f"no gap {id}")
        return self.gaps[(space, id)]

    async def answered(self, space: SpaceId, id: str, document_id: DocumentId, job_id: JobId) -> Gap:
        return await self._changed(space, id, GapState.ANSWERED, document_id)

    async def dismiss(self, space: SpaceId, id: str) -> Gap:
        return await self._changed(space, id, GapState.DISMISSED)

    async def reopen(self, space: SpaceId, id: str) -> Gap:
        return await self._changed(space, id, GapState.OPEN)

    async def _changed(self, space: SpaceId, id: str, state: GapState, document_id: DocumentId | None = None) -> Gap:
        gap = await self.one(space, id)
        self.gaps[(space, id)] = gap.model_copy(update={"state": state, "document_id": document_id})
        return self.gaps[(space, id)]

    def hold(self, id: str, question: str, *others: str, space: SpaceId | None = None) -> Gap:
        gap = Gap(
            id=id,
            question=question,
            others=list(others),
            asked=0,
            judged_bad=0,
            state=GapState.OPEN,
            nearest=[],
            document_id=None,
            first_at=NOON,
            last_at=NOON,
        )
        self.gaps[(space or SpaceId("main"), id)] = gap
        return gap


@dataclass
class FakeLikeness:
    """All questions are as near to each other as it says."""

    near: float = 0.0
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    async def similarities(self, space: SpaceId, question: str, others: Sequence[str]) -> list[float]:
        self.asked.append((question, list(others)))
        return [self.near] * len(others)


@dataclass
class FakeMarks:
    """An hour that never ends."""

    seen: set[tuple[SpaceId, str, str]] = field(default_factory=set)
    most: int = 1000

    async def first(self, space: SpaceId, client: str, what: str) -> bool:
        new = (space, client, what) not in self.seen
        self.seen.add((space, client, what))
        return new

    async def few(self, space: SpaceId, client: str) -> bool:
        self.most -= 1
        return self.most >= 0
