"""What a chunk that goes on with a table repeats of its header."""

import re

from services.ingestor.domain.blocks import Block

_BAR = re.compile(r"(?<!\\)\|")


def lead_of_part(text: str, table: Block, start: int, end: int) -> str:
    """The names of the columns of a part of one row, as a header that the part goes on from.

    Nothing when the names are longer than the part itself, or when it is more than a row.
    """
    row = text.rfind("\n", table.start, start) + 1
    if "\n" in text[start:end].strip("\n") or row < table.rows:
        return ""
    names = _cells(text[table.start : text.find("\n", table.start)])
    before = text[row:start]
    first = max(0, len(_BAR.findall(before)) - before.lstrip().startswith("|"))
    last = first + len(_BAR.findall(text[start:end].strip().strip("|"))) + 1
    shown = names[first:last]
    lead = f"| {' | '.join(shown)} |\n|{'---|' * len(shown)}\n{'| ' if start > row else ''}"
    return lead if shown and len(lead) <= end - start else ""


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]
