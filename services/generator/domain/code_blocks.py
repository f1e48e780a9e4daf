"""Code of the model's: a block needs a passage that holds each of its lines, a piece one that holds it as it stands."""

import re
from collections.abc import Sequence

from services.shared.contracts.search import Passage
from services.shared.contracts.writing import Span

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


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


def closed(code: str) -> str:
    """The block with its last fence, which a stream that broke off leaves out."""
    fences = [line for line in code.splitlines() if _FENCE.match(line)]
    opening = _FENCE.match(code)
    return code if opening is None or len(fences) > 1 else f"{code.rstrip()}\n{opening.group().strip()}"


def unknown_code(text: str, passages: Sequence[Passage]) -> list[str]:
    """What stands between backticks in the text and in no passage, white space and case aside."""
    given = " ".join(" ".join(passage.text for passage in passages).split()).casefold()
    return [code for code in _INLINE.findall(text) if " ".join(code.split()).casefold() not in given]
