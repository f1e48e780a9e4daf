"""Fakes of what the operator's doors look at."""

import asyncio
from dataclasses import dataclass, field

from services.gateway.ports.figures import Figures, Waiting
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, JobState, Queue

SEEN = Figures(
    jobs={(JobState.SUCCEEDED, JobKind.DOCUMENT): 41, (JobState.QUEUED, JobKind.ASK): 2},
    waiting={Queue.ASK: Waiting(2, 12.5)},
    spaces=3,
    documents=40,
    chunks=901,
    lag={IndexPhase.BUILDING: 7},
)


@dataclass
class FakeFigures:
    """Gives the same numbers each time; ``away`` does not."""

    seen: Figures = SEEN
    looks: int = 0
    away: bool = False

    async def figures(self) -> Figures:
        self.looks += 1
        await asyncio.sleep(0)
        if self.away:
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "gone")
        return self.seen


@dataclass
class FakeWarmed:
    """Loads until ``loaded`` is set; ``fault`` is what it comes to otherwise."""

    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    fault: RagstoneError | None = None
    asked: int = 0

    async def warm_up(self) -> PartHealth:
        self.asked += 1
        await self.loaded.wait()
        if self.fault is not None:
            raise self.fault
        return PartHealth(ready=True, detail="here")
