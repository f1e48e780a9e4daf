"""Chosen sentences as they leave: in reading order, lists as lists, rows with their header."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from services.generator.domain.candidates import Candidate, cells
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten, Span

_PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class Chosen:
    """A candidate that is said, how sure that is, and which columns of a table's row are said; else none."""

    candidate: Candidate
    score: float
    columns: frozenset[int] = frozenset()


def arranged(chosen: Sequence[Chosen], passages: Sequence[Passage]) -> tuple[SentenceWritten, ...]:
    """``chosen`` come best first; passages keep that order, sentences that of their passage."""
    order = list(dict.fromkeys(one.candidate.passage for one in chosen))
    reading = sorted(chosen, key=lambda one: (order.index(one.candidate.passage), one.candidate.own_start))
    written: list[SentenceWritten] = []
    listed = False
    for _, run in groupby(reading, key=_table):
        block = list(run)
        if len(block) > 1 and block[0].candidate.sentence.header:
            written.append(_whole_table(block, passages))
            listed = True
            continue
        for one in block:
            item = _is_item(one, reading)
            before = _mark(one, written) if item else _PARAGRAPH if listed or _is_code(one, passages) else " "
            written.append(_sentence(one, passages, before))
            listed = item or _is_code(one, passages)
    return tuple(written)


def _table(one: Chosen) -> tuple[int, int, int]:
    """Equal for rows of one table; every other sentence stands for itself."""
    sentence = one.candidate.sentence
    at = sentence.header_at[0] if sentence.header else sentence.start
    return one.candidate.passage, sentence.header_at[1] if sentence.header else -1, at


def _is_item(one: Chosen, reading: Sequence[Chosen]) -> bool:
    """An item of a list of which more is said."""
    place = (one.candidate.passage, one.candidate.group)
    items = [other for other in reading if other.candidate.sentence.mark and _place(other) == place]
    return bool(one.candidate.sentence.mark) and len(items) > 1


def _place(one: Chosen) -> tuple[int, int]:
    return one.candidate.passage, one.candidate.group


def _mark(one: Chosen, written: Sequence[SentenceWritten]) -> str:
    if one.candidate.sentence.mark == "-":
        return "\n- "
    last = re.fullmatch(r"\n(\d+)\. ", written[-1].before) if written else None
    return f"\n{int(last[1]) + 1 if last else 1}. "


def _is_code(one: Chosen, passages: Sequence[Passage]) -> bool:
    return _quote(one.candidate, passages).startswith(("```", "~~~"))


def _sentence(one: Chosen, passages: Sequence[Passage], before: str) -> SentenceWritten:
    candidate = one.candidate
    quote = _quote(candidate, passages)
    spans = [_span(candidate.passage, candidate.start, candidate.end, passages)]
    text = quote
    if candidate.sentence.kind == "row" and candidate.sentence.header:
        pairs = enumerate(zip(candidate.sentence.header, cells(quote), strict=False))
        said = [(head, cell) for at, (head, cell) in pairs if cell and at in one.columns]
        text = "; ".join(f"{head}: {cell}" if head else cell for head, cell in said)
        spans = [*_header(candidate, passages), *spans]
    elif not _is_code(one, passages):
        text = re.sub(r"\s*\n[\s>]*", " ", quote)
    return SentenceWritten(event="sentence", text=text, before=before, spans=spans, score=one.score)


def _whole_table(rows: Sequence[Chosen], passages: Sequence[Passage]) -> SentenceWritten:
    first = rows[0].candidate
    said = frozenset().union(*(row.columns for row in rows))
    header = [name for at, name in enumerate(first.sentence.header) if at in said]
    told = [cells(_quote(row.candidate, passages)) for row in rows]
    lines = [header, ["---"] * len(header), *([cell for at, cell in enumerate(row) if at in said] for row in told)]
    return SentenceWritten(
        event="sentence",
        text="\n".join(f"| {' | '.join(line)} |" for line in lines),
        before=_PARAGRAPH,
        spans=[*_header(first, passages), *(_own_span(row.candidate, passages) for row in rows)],
        score=max(row.score for row in rows),
    )


def _header(row: Candidate, passages: Sequence[Passage]) -> Iterable[Span]:
    """Where the columns' names stand; a header that is only repeated from further up has no place of its own."""
    start, end = row.sentence.header_at
    return [_span(row.passage, start, end, passages)] if start >= passages[row.passage].lead else []


def _own_span(candidate: Candidate, passages: Sequence[Passage]) -> Span:
    return _span(candidate.passage, candidate.start, candidate.end, passages)


def _span(passage: int, start: int, end: int, passages: Sequence[Passage]) -> Span:
    return Span(passage=passage, start=start, end=end, quote=passages[passage].text[start:end])


def _quote(candidate: Candidate, passages: Sequence[Passage]) -> str:
    return passages[candidate.passage].text[candidate.start : candidate.end]
