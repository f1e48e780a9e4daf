"""Real files of every kind: what the parsers make of each, and whether that is what the list of them expects.

``python -m benchmarks.real_files DATA [--markitdown]`` (DATA is the folder of public test data that holds
``files/files.jsonl``). Prints a Markdown table. With ``--markitdown``, where that library is installed, a second table
of what it makes of the same files. Files are read in this process; see benchmarks/hostile_files.py for the other way.
"""

import argparse
import json
import logging
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.ingestor.adapters.languages import Languages
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted, Incoming
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId

MAX_BYTES = 20_000_000


class NeverPassing(Exception):
    """Stands for what only a worker raises."""


@dataclass(frozen=True)
class Outcome:
    """What became of a file."""

    extracted: Extracted | None
    error: RagstoneError | None
    seconds: float
    missing: Sequence[str] = ()
    """Words that should be in the text."""
    left: Sequence[str] = ()
    """Boilerplate that should not be."""

    @property
    def text(self) -> str:
        """The extracted text, empty for a file that was refused."""
        return self.extracted.text if self.extracted else ""

    def differs(self, expect: str) -> str | None:
        """What is not as expected; None when all is."""
        code = self.error.code if self.error else None
        right = {
            "ok": code is None,
            "no_text": code == ErrorCode.DOCUMENT_EMPTY,
            "empty": code == ErrorCode.DOCUMENT_EMPTY,
            "needs_password": code == ErrorCode.UNREADABLE_DOCUMENT and "password" in str(self.error),
            "reject": code is not None,
            "ok_or_reject": True,
            "reject_or_no_leak": socket.gethostname() not in self.text,
        }
        if not right[expect]:
            return f"expected {expect}, and it was {self.error or 'read'}"
        if self.extracted and self.missing:
            return f"its text lacks {self.missing}"
        return None


def expectations(path: Path) -> list[dict[str, Any]]:
    """The rows of a list of files; none where it is absent."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def lacking(text: str, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Which words of the row a text lacks, and which boilerplate it holds.

    White space counts as one blank, because lines end elsewhere than in the original.
    """
    words = f"{text}\n{' '.join(text.split())}"
    missing = [part for part in row.get("contains", []) if part not in words]
    return missing, [part for part in row.get("better_without", []) if part in words]


def outcome_of(parsers: FileParsers, folder: Path, row: Mapping[str, Any]) -> Outcome:
    """Reads the file of a row."""
    name = row["file"]
    sent = Incoming(
        document_id=DocumentId(name),
        blob_sha256="00",
        filename=name,
        media_type="application/octet-stream",
        size_bytes=0,
        title=None,
        type=None,
        tags=None,
        source=None,
        metadata={},
        origin=None,
    )
    data = (folder / name).read_bytes()
    began = time.perf_counter()
    try:
        extracted, error = parsers.parse(sent, data), None
    except RagstoneError as refused:
        extracted, error = None, refused
    seconds = time.perf_counter() - began
    missing, left = lacking(extracted.text, row) if extracted else ([], [])
    return Outcome(extracted, error, seconds, missing, left)


def _ours(parsers: FileParsers, folder: Path, row: Mapping[str, Any]) -> list[str]:
    outcome = outcome_of(parsers, folder, row)
    wanted = len(row["contains"])
    if outcome.extracted is None:
        came, found = f"refused: {outcome.error.code}" if outcome.error else "", "–"
    else:
        came, found = (
            "read, with a warning" if outcome.extracted.warning else "read",
            f"{wanted - len(outcome.missing)}/{wanted}",
        )
    one = outcome.extracted
    return [
        came,
        "" if outcome.differs(row["expect"]) is None else "NOT AS EXPECTED",
        f"{len(outcome.text):,}",
        f"{len(one.places) if one else 0:,}",
        (one.language if one else None) or "",
        found,
        str(len(outcome.left)) if row["better_without"] else "–",
        f"{outcome.seconds:.2f}",
    ]


def _markitdown() -> Callable[[Path, Mapping[str, Any]], list[str]]:
    from markitdown import MarkItDown  # type: ignore[import-not-found]

    reader = MarkItDown(enable_plugins=False)

    def read(folder: Path, row: Mapping[str, Any]) -> list[str]:
        began = time.perf_counter()
        try:
            text = reader.convert(str(folder / row["file"])).text_content
            came = "read" if text.strip() else "empty text"
        # Whatever it raises is an outcome.
        except Exception as error:
            text, came = "", type(error).__name__
        seconds = time.perf_counter() - began
        missing, left = lacking(text, row)
        wanted = len(row["contains"])
        return [came, f"{len(text):,}", f"{wanted - len(missing)}/{wanted}", str(len(left)), f"{seconds:.2f}"]

    return read


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    for line in (head, ["---"] * len(head), *lines):
        print(f"| {' | '.join(line)} |")


def main() -> None:
    """Print the tables."""
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("data", type=Path)
    wanted.add_argument("--markitdown", action="store_true")
    options = wanted.parse_args()
    folder = options.data / "files"
    rows = expectations(folder / "files.jsonl")
    logging.disable(logging.CRITICAL)
    parsers = FileParsers(MAX_BYTES, NeverPassing, Languages().language_of)
    # Libraries are loaded with the first file of a kind; the second reading is the one that counts.
    for row in rows:
        outcome_of(parsers, folder, row)
    head = [
        "file",
        "kind",
        "expected",
        "outcome",
        "",
        "characters",
        "places",
        "language",
        "contains",
        "left",
        "seconds",
    ]
    _table(head, [[row["file"], row["kind"], row["expect"], *_ours(parsers, folder, row)] for row in rows])
    if options.markitdown:
        read = _markitdown()
        print()
        head = ["file", "expected", "markitdown", "characters", "contains", "left", "seconds"]
        _table(head, [[row["file"], row["expect"], *read(folder, row)] for row in rows])


if __name__ == "__main__":
    main()
