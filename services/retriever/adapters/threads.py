"""Blocking calls beside the event loop, a bounded number of them for each outside thing."""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
import anyio.to_thread

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """At most ``size`` threads at once; one thing that hangs does not use up the threads of another."""

    def __init__(self, size: int) -> None:
        self._limiter = anyio.CapacityLimiter(size)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` in a thread. A caller who leaves does not wait for it to end."""
        return await anyio.to_thread.run_sync(
            partial(work, *args, **kwargs), abandon_on_cancel=True, limiter=self._limiter
        )
