"""Fakes of what is asked before an answer is given again. Nothing is known of the ways, so nothing is, until told."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.gateway.domain.given import Given, Standing, Ways
from services.shared.contracts.answers import WriterModel
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId

STANDING = Standing(IndexId("i1"), 7, None)
"""That of the messages' ``found``."""
WAYS = Ways(WriterModel(writer="extractive", name=None), "w1", "f1")


@dataclass
class FakeStandings:
    now: Standing = STANDING
    error: RagstoneError | None = None
    asked: int = 0

    async def standing(self, space: SpaceId) -> Standing:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.now


@dataclass
class FakeWays:
    known: Ways | None = None

    async def now(self) -> Ways | None:
        return self.known


@dataclass
class FakeGiven:
    kept: dict[tuple[SpaceId, str], Given] = field(default_factory=dict)
    on_keep: Callable[[], None] = lambda: None
    takes: bool = True

    async def find(self, space: SpaceId, fingerprint: str) -> Given | None:
        return self.kept.get((space, fingerprint))

    async def keep(self, space: SpaceId, fingerprint: str, given: Given) -> bool:
        if self.takes:
            self.kept[(space, fingerprint)] = given
            self.on_keep()
        return self.takes

    async def drop(self, space: SpaceId, fingerprint: str) -> None:
        self.kept.pop((space, fingerprint), None)
