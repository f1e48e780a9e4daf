"""The grounding model behind a bounded queue and a thread of its own: neither the event loop nor questions wait."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.retriever.adapters.lane import Lane, stopping
from services.shared.contracts.grounding import Grounding, Pair

if TYPE_CHECKING:
    from services.shared.models.grounding.grounder import Grounder

STOP_S = 10.0

AT_A_TIME = 8
"""Pairs between two looks at whether anybody still waits. Claims of one sentence share their texts, so few are many."""


@dataclass(eq=False)
class _Claims:
    """Pairs of one caller."""

    pairs: list[Pair]
    future: "Future[list[Grounding]]" = field(default_factory=Future)


class QueuedGrounder:
    """The port ``Grounder``. At most ``waiting_limit`` callers wait; the next is told at once that it is busy.

    ``load`` is asked for the model at each call: it costs time at the first one, and whenever other models took its
    place meanwhile. A caller who is cancelled takes its waiting work along; work under way
    stops after the pairs that run.
    """

    def __init__(self, load: Callable[[], "Grounder"], *, waiting_limit: int) -> None:
        self._load = load
        self._claims: Lane[_Claims] = Lane("claims", limit=waiting_limit, take=_one_caller, do=self._ground)

    @property
    def waiting(self) -> int:
        """Callers in line."""
        return self._claims.waiting

    def start(self) -> None:
        """Start the thread."""
        self._claims.start()

    def close(self) -> None:
        """Stop after the pairs that run; whoever waits is told that the service stops."""
        self._claims.stop()
        self._claims.wait(STOP_S)

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """Probabilities for each pair, in their order."""
        work = _Claims(list(pairs))
        self._claims.put(work)
        return await asyncio.wrap_future(work.future)

    def _ground(self, one: list[_Claims]) -> None:
        (work,) = one
        grounder = self._load()
        found: list[Grounding] = []
        for start in range(0, len(work.pairs), AT_A_TIME):
            if work.future.cancelled():
                return
            if self._claims.closed:
                raise stopping()
            found += grounder.ground(work.pairs[start : start + AT_A_TIME])
        if work.future.set_running_or_notify_cancel():
            work.future.set_result(found)


def _one_caller(waiting: list[_Claims]) -> list[_Claims]:
    return [waiting.pop(0)] if waiting else []
