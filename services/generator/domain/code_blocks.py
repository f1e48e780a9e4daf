"""A code block of the model is supported where a passage holds each of its lines."""

import re
from collections.abc import Sequence

from services.shared.contracts.search import Passage
from services.shared.contracts.writing import Span

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


def source_of(code: str, passages: Sequence[Passage]) -> Span | None:
    """The lines of the first passage from the first to the last of the block's, or None."""
    wanted = [" ".join(line.split()) for line in code.splitlines() if line.strip() and not _FENCE.match(line)]
    if not wanted:
        return None
    for number, passage in enumerate(passages):
        lines = [
            (match.start(), match.end(), " ".join(match.group().split()))
            for match in re.finditer(r"[^\n]*\S[^\n]*", passage.text)
            if match.start() >= passage.lead
        ]
        holding = [(start, end) for start, end, line in lines if line in wanted]
        if set(wanted) <= {line for _, _, line in lines}:
            start, end = holding[0][0], holding[-1][1]
            return Span(passage=number, start=start, end=end, quote=passage.text[start:end])
    return None
