"""What the run says on the terminal."""

import contextlib
import threading
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from services.local.logbook import Sieve

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_cyan", "bright_magenta", "bright_green")
_OWN = "ragstone"


class Voice:
    """Lines with the part's name in its colour; thread-safe.

    Only state changes and lines of level WARNING and above are shown; ``verbose`` shows every line.
    """

    def __init__(self, console: Console, names: Sequence[str], *, verbose: bool = False) -> None:
        self.console = console
        self._verbose = verbose
        self._width = max(len(name) for name in (_OWN, *names))
        self._colours = {name: _COLOURS[n % len(_COLOURS)] for n, name in enumerate(names)}
        self._sieves = {name: Sieve() for name in names}
        self._quiet = False
        self._lock = threading.Lock()

    def hear(self, name: str, line: str) -> None:
        """A part wrote a line."""
        shown = self._sieves[name].shows(line) and not self._quiet
        if shown or self._verbose:
            self._print(name, line, "")

    def says(self, name: str, text: str, style: str = "bold") -> None:
        """A part changed its state."""
        self._print(name, text, style)

    def own(self, text: str, style: str = "bold") -> None:
        """The supervisor itself has something to say."""
        self._print(_OWN, text, style)

    def stopping(self) -> None:
        """From now on complaints of parts about each other are only in their logs."""
        self._quiet = True

    def _print(self, name: str, text: str, style: str) -> None:
        prefix = Text(f"{name:<{self._width}} | ", style=self._colours.get(name, "white"))
        with self._lock, contextlib.suppress(OSError):  # a closed terminal must not keep the parts from being stopped
            self.console.print(prefix + Text(text, style=style), soft_wrap=True, highlight=False)
