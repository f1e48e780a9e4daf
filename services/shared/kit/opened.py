"""Things that cost time to open, kept open: the least recently used one is let go when there are too many."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Opened(Generic[K, V]):
    """``get`` opens at first use, once however many threads ask; a failed opening is tried again by the next."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._locks: dict[K, threading.Lock] = {}
        self._open: OrderedDict[K, V] = OrderedDict()

    def values(self) -> list[V]:
        """Everything that is open now."""
        with self._lock:
            return list(self._open.values())

    def look(self, key: K) -> V | None:
        """The open thing of this key, None when it is not open; looking at it is no use of it."""
        with self._lock:
            return self._open.get(key)

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
            opened = open_it()
            with self._lock:
                self._open[key] = opened
                self._locks.pop(key, None)
                while len(self._open) > self.limit:
                    self._open.popitem(last=False)
        return opened

    def keep(self, keys: Collection[K]) -> list[V]:
        """Let go of everything else; what that was."""
        with self._lock:
            return [self._open.pop(key) for key in list(self._open) if key not in keys]
