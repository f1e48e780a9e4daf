"""CSV and TSV files: one table by the standard library's reader; delimiter and header are found from the rows."""

import csv
import re
from collections.abc import Iterator

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.stretches import Stretches, joined
from services.ingestor.domain.tables import Row, TableWriter, cell_text, usual_width

SAMPLE_LINES = 200
SAMPLE_CHARACTERS = 100_000
"""What is looked at to find the delimiter."""

_DELIMITERS = "\t;|,"
"""Where several fit alike, the first: a comma stands in other lists' numbers and sentences, the others seldom do."""

_SAID = re.compile(r"sep=(.)\n")
_END = "\x1fend of file"
"""Fed to the reader as a last line of its own; when it lands in a cell, a quote was never closed."""


def parse(data: bytes, name: str) -> Extracted:
    """The rows as one table under their header, with their numbers as places.

    Rows that do not agree with the first one stay lines as they were written, because no column is known by name.
    """
    decoded = decode(data, name)
    text = decoded.text
    said = _SAID.match(text)
    first = 2 if said else 1
    text = text[said.end() :] if said else text
    delimiter = said[1] if said else _delimiter(text)
    records, open_at = _records(text, delimiter)
    rows = [Row(n, [cell_text(cell) for cell in record]) for n, record in enumerate(records, start=first)]
    fault = (
        f"a quote in row {open_at + first} of {name} is never closed; from there on each line was read as a row"
        if open_at is not None
        else None
    )
    filled = [row for row in rows if any(row.cells)]
    out = Stretches()
    if _disagree(filled):
        for n, line in enumerate(text.removesuffix("\n").split("\n"), start=first):
            out.add(f"{line}\n", f"row {n}")
        note = f"the rows of {name} do not fit its first row, so they were read as lines and not as a table"
        return Extracted(
            text=out.text, markdown=False, warning=joined([decoded.warning, fault, note]), places=out.places
        )
    TableWriter(out, lambda number: f"row {number}", level=1).write(filled)
    return Extracted(text=out.text, markdown=True, warning=joined([decoded.warning, fault]), places=out.places)


def _disagree(filled: list[Row]) -> bool:
    """Has the first row, which should name the columns, another number of cells than nearly all others?"""
    if len(filled) < 3:
        return False
    named, usual = usual_width(filled[:1]), usual_width(filled[1:])
    others = sum(1 for row in filled[1:] if usual_width([row]) > named)
    return 1 < named < usual and others > 0.9 * (len(filled) - 1)


def _records(text: str, delimiter: str) -> tuple[list[list[str]], int | None]:
    """The records, and which one opens a quote that nobody closes (None without); blank lines are empty records."""
    # A field is as long as the file at most; the module's own limit is 131,072 and is one for all threads.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 100))
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    records: list[list[str]] = []
    at = [0]
    reader = csv.reader(_fed(lines, at), delimiter=delimiter, skipinitialspace=True)
    began = 0
    for record in reader:
        if record == [_END]:
            return records, None
        if record and record[-1].endswith(f"{_END}\n"):
            break
        records.append(record)
        began = at[0]
    broken = len(records)
    plain = csv.reader(lines[began:], delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return records + [[cell.strip('"') for cell in record] for record in plain], broken


def _fed(lines: list[str], at: list[int]) -> Iterator[str]:
    for line in lines:
        at[0] += 1
        yield line + "\n"
    yield _END + "\n"


def _delimiter(text: str) -> str:
    """The delimiter under which most of the first rows have the same number of cells, and more than one."""
    sample = text[:SAMPLE_CHARACTERS].split("\n")[:SAMPLE_LINES]
    if len(text) > SAMPLE_CHARACTERS and len(sample) > 1:
        sample.pop()
    best, best_score = ",", 0.0
    csv.field_size_limit(max(csv.field_size_limit(), SAMPLE_CHARACTERS))
    for delimiter in _DELIMITERS:
        records = [record for record in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if record]
        widths = [len(record) for record in records]
        split = [width for width in widths if width > 1]
        if not split:
            continue
        usual = max(set(split), key=split.count)
        score = split.count(usual) / len(widths)
        if score > best_score + 0.01:
            best, best_score = delimiter, score
    return best
