"""How long each step took, by a clock that the caller brings."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


class Stopwatch:
    """Adds up milliseconds by step. Steps may overlap: they are not shares of the total. ``around`` is entered for
    each step, for whoever wants to see them one by one."""

    def __init__(self, clock: Callable[[], float], around: Callable[[str], AbstractContextManager[object]]) -> None:
        self._clock = clock
        self._around = around
        self._began = clock()
        self._steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what runs inside for ``name``."""
        began = self._clock()
        try:
            with self._around(name):
                yield
        finally:
            self._steps[name] = self._steps.get(name, 0.0) + 1000 * (self._clock() - began)

    def timings_ms(self) -> dict[str, float]:
        """Every step so far, and ``total`` since the start; milliseconds."""
        steps = {**self._steps, "total": 1000 * (self._clock() - self._began)}
        return {name: round(elapsed, 2) for name, elapsed in steps.items()}
