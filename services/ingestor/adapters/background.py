"""A thread that works one step behind its caller, so that storing overlaps with embedding."""

import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager


class OneBehind:
    """At most one step is under way and none waits: the caller is never more than one step ahead."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._last: Future[None] | None = None

    def run(self, step: Callable[[], None]) -> None:
        self.wait()
        self._last = self._pool.submit(contextvars.copy_context().run, step)

    def wait(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.result()


@contextmanager
def one_behind() -> Iterator[OneBehind]:
    """The thread ends with the block, after its last step."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer") as pool:
        yield OneBehind(pool)
