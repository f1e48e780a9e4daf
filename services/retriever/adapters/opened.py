"""Things that cost time to open, kept open: the least recently used one is let go when there are too many."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Opened(Generic[K, V]):
    """``get`` opens at first use, once however many threads ask; a failed opening is tried again by the next."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._locks: dict[K, threading.Lock] = {}
        self._open: OrderedDict[K, V] = OrderedDict()

    def values(self) -> list[V]:
        """Everything that is open now."""
        with self._lock:
            return list(self._open.values())

    def get(self, key: K, open_it: Callable[[], V]) -> V:
        """The open thing of this key."""
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
            opening = self._locks.setdefault(key, threading.Lock())
        with opening:
            with self._lock:
                if key in self._open:
                    return self._open[key]
            try:
                opened = open_it()
                with self._lock:
                    self._open[key] = opened
                    while len(self._open) > self._limit:
                        self._open.popitem(last=False)
            finally:
                with self._lock:
                    self._locks.pop(key, None)
        return opened
