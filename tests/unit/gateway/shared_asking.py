"""A gateway over fakes that may give answers again, and the question that it is asked."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from services.gateway.flow.ask import AskEvent
from services.gateway.flow.shared_ask import SharedAskFlow
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.profile import Profile
from tests.unit.gateway.fake_given import WAYS
from tests.unit.gateway.fake_services import Step
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence

ASKED = AskRequest(question="When does it open?")


class Asking:
    """A gateway over fakes that may give answers again."""

    def __init__(self, *script: Step, profile: Profile | None = None) -> None:
        self.world = World(profile=profile or Profile())
        self.world.ways.known = WAYS
        one = passage()
        first = sentence("It opens at nine.", (one, "opens at nine"), of=[one])
        self.world.answers(one, script=[first, *script, done()])
        self.flow: SharedAskFlow = gateway_of(self.world.outside(), self.world.settings, self.world.profile).ask

    async def ask(self, question: str = ASKED.question, space: str = "main", **fields: object) -> Answer:
        fresh = bool(fields.pop("fresh", False))
        request = AskRequest.model_validate({"question": question} | fields)
        answer = await self.flow.answer(SpaceId(space), request, "trace-2", fresh=fresh)
        await self.settled()
        return answer

    async def settled(self) -> None:
        """Until everything that is under way is kept."""
        await asyncio.gather(*(flight.task for flight in self.flow._running), return_exceptions=True)

    @property
    def runs(self) -> int:
        return len(self.world.generator.calls)

    @property
    def counts(self) -> tuple[int, int, int]:
        counts = self.flow.counts
        return counts.hits, counts.misses, counts.shared


async def told(events: AsyncGenerator[AskEvent, None]) -> list[AskEvent]:
    async with aclosing(events):
        return [event async for event in events]
