"""Plain words and rows of cells as Markdown that says the same."""

import re
from collections.abc import Sequence

from services.ingestor.domain.stretches import as_markdown
from services.ingestor.domain.tables import cell_text, shown_in_table

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def paragraph(words: str) -> str:
    """Words that Markdown takes for a paragraph: nothing in them opens a heading, code, or a tag that nobody sees."""
    return _TAG.sub(r"\\<", as_markdown(words))


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A line for each row, the first one as the header; shorter rows end in empty cells. Empty without any text."""
    width = max((len(row) for row in rows), default=0)
    lines = []
    for row in rows:
        cells = [_TAG.sub(r"\\<", shown_in_table(cell_text(cell))) for cell in row] + [""] * (width - len(row))
        if any(cells):
            lines.append(f"| {' | '.join(cells)} |")
    if not lines:
        return ""
    return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])
