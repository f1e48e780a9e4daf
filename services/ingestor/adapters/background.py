"""Threads beside the one that embeds: one that makes things ready ahead of it, one that works a step behind it."""

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")

LONGEST_WAIT_S = 10.0
"""At the end of a task's time there is not more than half a minute left to say so."""


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


class MadeAhead(Generic[T]):
    """Items of an iterator that a thread draws before they are asked for."""

    def __init__(self, items: Iterator[T], most: int) -> None:
        self._items = items
        self._most = most
        self._ready: deque[T] = deque()
        self._changed = threading.Condition()
        self._over = False
        self._unwanted = False
        self._error: BaseException | None = None

    def take(self) -> list[T]:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._over)
            found = list(self._ready)
            self._ready.clear()
            self._changed.notify_all()
            if not found and self._error is not None:
                raise self._error
            return found

    def ready(self, within_s: float) -> bool:
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._ready or self._over, within_s))

    def draw(self) -> None:
        """The thread's work: to the end of the iterator, or until nobody wants more."""
        try:
            for item in self._items:
                if not self._offer(item):
                    return
        # Raised where the items are taken, whatever it is.
        except BaseException as error:
            self._error = error
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def stop(self) -> None:
        """Let the thread end after the item that it is making."""
        with self._changed:
            self._unwanted = True
            self._changed.notify_all()

    def _offer(self, item: T) -> bool:
        with self._changed:
            self._ready.append(item)
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(self._ready) < self._most or self._unwanted)
            return not self._unwanted


@contextmanager
def made_ahead(items: Iterator[T], most: int) -> Iterator[MadeAhead[T]]:
    """The thread ends with the block, after the item that it is making; one that takes long is not waited for."""
    ahead = MadeAhead(items, most)
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(ahead.draw,), name="reader", daemon=True)
    thread.start()
    try:
        yield ahead
    finally:
        ahead.stop()
        thread.join(LONGEST_WAIT_S)
