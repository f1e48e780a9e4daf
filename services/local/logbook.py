"""What the parts say: all of it in one file each, and on the terminal only what matters."""

import logging
import re
from pathlib import Path

LOG_MAX_BYTES = 10_000_000

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_STAMPED = re.compile(r"^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+\[?(?P<level>[A-Za-z]+)\s*\]?")
_ALARMING = frozenset({"warning", "warn", "error", "critical", "fatal"})


def plain(line: str) -> str:
    """A line without colours and line end."""
    return _ANSI.sub("", line).rstrip()


def level_of(line: str) -> str | None:
    """The level of a stamped log line, lower case; null for the lines that follow one (tracebacks) or banners."""
    found = _STAMPED.match(line)
    return found["level"].lower() if found else None


class Sieve:
    """Lets through lines of level WARNING and above, with the traceback lines that follow them."""

    def __init__(self) -> None:
        self._open = False

    def shows(self, line: str) -> bool:
        """Does this line belong on the terminal? Lines must come in order."""
        level = level_of(line)
        if level is not None:
            self._open = level in _ALARMING
        elif line.startswith("Traceback (most recent call last)"):
            self._open = True
        return self._open and bool(line)


class LogFile:
    """NAME.log, with one older generation NAME.log.1 once it has grown."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._size = path.stat().st_size if path.exists() else 0
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: str) -> None:
        """Append one line; a full disk must not stop the part that speaks."""
        if self._size > LOG_MAX_BYTES:
            self._file.close()
            self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file, self._size = self.path.open("w", encoding="utf-8"), 0
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            logging.getLogger(__name__).debug("log line lost: %s", error)
        self._size += len(line) + 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()
