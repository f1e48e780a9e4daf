"""The sentences that could answer a question."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.generator.domain import terms, trusted
from services.generator.domain.sentences import Sentence
from services.generator.domain.wording import leans_back
from services.shared.contracts.search import Passage

_COUNTS_ON = re.compile(
    r"[\W_]*(?:there (?:was|were|is|are|used)"
    r"|(?:all|both|most|many|some|none|each|one|two|three|neither) of (?:them|these|those|it)"
    r"|the (?:latter|former|others|rest)"
    r"|the (?:first|second|third|fourth|fifth|last|other) (?:was|is|became|has|had|did))\b",
    re.IGNORECASE,
)
"""What a sentence counts or points at was named before it: "There were four", "The fifth became a baker"."""
MAX_CANDIDATES = 96
"""Most sentences that are scored for one question; the lexically closest stay."""


@dataclass(frozen=True)
class Candidate:
    """``passages[passage].text[start:end]`` may answer; ``start`` takes a sentence along that it leans on.

    ``sentence`` is the sentence itself. ``place`` is where the passage stands, ``spoken`` the text as it would be
    read aloud: with what it leans on, or with the names of a table's columns.
    """

    passage: int
    start: int
    sentence: Sentence
    place: str
    spoken: str
    group: int
    """Candidates of one list or table, with the sentence that introduces it, share a number."""

    @property
    def own_start(self) -> int:
        """Where the sentence itself begins."""
        return self.sentence.start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.sentence.end

    @property
    def scored(self) -> str:
        """What is compared with the question."""
        place = self.place.rsplit(" > ", 1)[-1]
        return f"{place}: {self.spoken}" if place else self.spoken


def candidates(question: str, passages: Sequence[Passage]) -> list[Candidate]:
    """Sentences of the passages, questions, mere titles and planted instructions left out, at most MAX_CANDIDATES."""
    found: list[Candidate] = []
    for number, passage in enumerate(passages):
        found.extend(_of_passage(number, passage))
    if len(found) <= MAX_CANDIDATES:
        return found
    closest = sorted(found, key=lambda one: (-terms.overlap(question, one.scored), one.passage, one.start))
    return sorted(closest[:MAX_CANDIDATES], key=lambda one: (one.passage, one.own_start))


def _of_passage(number: int, passage: Passage) -> Iterable[Candidate]:
    text = passage.text
    place = passage.section or passage.title
    group = 0
    previous: Sentence | None = None
    for sentence in trusted.sentences(text, after=passage.lead):
        own = text[sentence.start : sentence.end]
        if not _goes_on(previous, sentence, text):
            group += 1
        if _is_question(own):
            previous = sentence
            continue
        start, spoken = sentence.start, own
        if sentence.kind == "row" and sentence.header:
            spoken = ", ".join(f"{head}: {cell}" for head, cell in zip(sentence.header, cells(own), strict=False))
        if previous and previous.block == sentence.block and sentence.kind == "prose":
            before = text[previous.start : previous.end]
            if _is_question(before):
                spoken = f"{before} {own}"
            elif leans_back(own) or _COUNTS_ON.match(own):
                start, spoken = previous.start, f"{before} {own}"
        yield Candidate(number, start, sentence, place, spoken, group)
        previous = sentence


def cells(row: str) -> list[str]:
    """What stands between the bars."""
    return [cell.strip() for cell in row.split("|")]


def _is_question(text: str) -> bool:
    return text.rstrip("\"'”’*_ ").endswith(("?", "？"))


def _goes_on(previous: Sentence | None, sentence: Sentence, text: str) -> bool:
    """Whether a sentence belongs to the list or table of the one before, or is introduced by it."""
    if previous is None:
        return False
    if sentence.kind == "row":
        return previous.kind == "row" and previous.header_at == sentence.header_at
    if not sentence.mark:
        return previous.block == sentence.block
    between = text[previous.end : sentence.start]
    introduced = text[previous.start : previous.end].rstrip("*_ ").endswith(":")
    return introduced or (between.count("\n") <= 2 and previous.kind == "prose" and _in_list(previous, text))


def _in_list(sentence: Sentence, text: str) -> bool:
    """Whether the sentence's line begins an item or is indented below one."""
    line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end]
    return bool(sentence.mark) or line[:1] in (" ", "\t") or re.match(r"(?:[-*+•]|\d+[.)])\s", line) is not None
