"""From a model's raw stream to sentences with their citations: thoughts out, sentences cut, markers read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.generator.domain.openers import without_opener, without_visitor
from services.generator.domain.sentences import Kind, Sentence, split

_NUMBERS = r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*"
_MARKER = re.compile(
    rf"(?<![^\W\d_])(?<!_)\s*\[({_NUMBERS})\]|(?<=\w)\[({_NUMBERS})\](?=\s*(?:[.!?,;:\[。！？，；]|$))|\s*【(\d{{1,3}})[^】]*】"
)
_AFTER_STOP = re.compile(
    rf"((?<![.!?。！？])[.!?。！？]+[\"'”’)*]*)((?:[^\S\n]*(?:\[{_NUMBERS}\]|【\d{{1,3}}[^】]*】))+)"
)
_LEADING = re.compile(rf"\s*(?:(?:[-*•]|\d{{1,2}}[.)])\s+)?(?:\[{_NUMBERS}\]|【\d)")
_LINE_OF_ITS_OWN = re.compile(r"(?<!\n)\n(?=\s*(?:\[\d|【\d))")
_UNFINISHED_MARKER = re.compile(r"(?<!\s)\s*(?:\[[\d\s,;]*|【[^】]*)$")
_UNFINISHED_WORD = re.compile(r"[A-Za-zÀ-ɏ]+$")
_MAY_END = re.compile(r"[.!?…。！？｡।؟۔\n]")
_MAY_BECOME = ("the", "may", "xyz")
"""A word so far may become any other; these are one of each kind that decides whether a sentence ends before it."""
_LIST_MARK = re.compile(r"(?:^|\n)(?P<indent>[ \t]*)(?:[-*+•‣▪]|(?P<number>\d{1,9})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?$")
_CODE_BLOCK = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(frozen=True)
class Written:
    """One sentence of the model without markers, and the passages it names: 0 for the marker [1].

    ``before`` is the Markdown that parts it from the sentence before: a blank, a new paragraph, a list's mark. A
    table's row stands without its last bar, so that a marker can follow; a code block is one sentence.
    """

    text: str
    cited: tuple[int, ...]
    before: str = " "
    kind: Kind = "prose"
    header: tuple[str, ...] = ()

    @property
    def claim(self) -> str:
        """What it says, in plain words: a row with its column names, no emphasis, a link's address beside its name."""
        if self.kind == "row" and self.header:
            cells = [cell.strip() for cell in self.text.strip("| ").split("|")]
            return ", ".join(f"{head}: {cell}" for head, cell in zip(self.header, cells, strict=False) if cell)
        return self.text if self.kind == "code" else plain(self.text)

    @property
    def listed(self) -> bool:
        """Whether it begins an item of a list."""
        return self.kind == "prose" and self.before.startswith("\n") and self.before != "\n\n"

    @property
    def leads_in(self) -> bool:
        """Whether it only introduces the list, table or code that follows."""
        return self.kind == "prose" and self.text.endswith((":", "："))


def plain(text: str) -> str:
    """``text`` without Markdown's emphasis, code ticks and link brackets."""
    text = re.sub(r"!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)", r"\1 (\2)", text)
    return re.sub(r"\*\*|__|`|(?<![\w*])[*_](?=\w)|(?<=[\w.!?,])[*_](?![\w*])", "", text)


class ThoughtFilter:
    """Takes ``<think>…</think>`` out of a stream, wherever the pieces cut the tags."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    def feed(self, piece: str) -> tuple[str, bool]:
        """The text outside of thoughts, and whether all text before it turned out to be a thought."""
        self._held += piece
        out, forget = "", False
        while True:
            tag = _CLOSE if self._thinking else _OPEN
            at = self._held.find(tag)
            lone = -1 if self._thinking else self._held.find(_CLOSE)
            if lone >= 0 and (at < 0 or lone < at):
                out, forget, self._held = "", True, self._held[lone + len(_CLOSE) :]
            elif at >= 0:
                out += "" if self._thinking else self._held[:at]
                self._held, self._thinking = self._held[at + len(tag) :], not self._thinking
            else:
                break
        keep = max(_begun(self._held, _OPEN), _begun(self._held, _CLOSE))
        ready = self._held[: len(self._held) - keep]
        self._held = self._held[len(ready) :]
        return out + ("" if self._thinking else ready), forget

    def finish(self) -> str:
        """What was held back in case it began a tag."""
        return "" if self._thinking else self._held


class SentenceCutter:
    """Gives a sentence out as soon as the next one has begun, so that a marker behind the full stop is in it.

    A model that begins with a marker puts them all in front; then, and at the beginning of a line, a marker belongs
    to what follows. What holds no word is no sentence, and headings are none either.
    """

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._thoughts = ThoughtFilter()
        self._buffer = ""
        self._given = 0
        self._in_front: bool | None = None

    def feed(self, piece: str) -> list[Written]:
        """Sentences that ``piece`` completed."""
        text, forget = self._thoughts.feed(piece)
        if forget:
            self._buffer, self._given, self._in_front = "", 0, None
        self._buffer += text
        whole = self._tidied()
        return self._read(whole, _settled(whole)) if _MAY_END.search(whole, self._given) else []

    def finish(self, *, cut_off: bool) -> list[Written]:
        """The rest; a sentence that the model's limit cut off is left out."""
        self._buffer += self._thoughts.finish()
        whole = self._tidied()
        spans = split(whole)
        if cut_off and spans and not re.search(r"[.!?。！？][\"'”’)*\]]*$", whole[spans[-1].start : spans[-1].end]):
            spans.pop()
        return self._read(whole, spans)

    def _tidied(self) -> str:
        """All text so far with each marker inside of the sentence that it belongs to; code is left alone."""
        if self._in_front is None and re.search(r"[^\W\d]", self._buffer):
            self._in_front = _LEADING.match(self._buffer) is not None
        parts, at = [], 0
        for code in (*_CODE_BLOCK.finditer(self._buffer), None):
            text = _LINE_OF_ITS_OWN.sub("\n\n", self._buffer[at : code.start() if code else None])
            parts.append(text if self._in_front else _AFTER_STOP.sub(r"\2\1", text))
            if code:
                parts.append(code.group())
                at = code.end()
        return "".join(parts)

    def _read(self, whole: str, spans: Sequence[Sentence]) -> list[Written]:
        """The sentences that were not given out yet."""
        found = []
        previous: Sentence | None = None
        for span in spans:
            if span.start >= self._given:
                self._given = span.end
                if written := self._written(whole, span, previous):
                    found.append(written)
            previous = span
        return found

    def _written(self, whole: str, span: Sentence, previous: Sentence | None) -> Written | None:
        sentence = whole[span.start : span.end]
        before = _before(whole[previous.end if previous else 0 : span.start], span, previous)
        if span.kind == "code":
            return Written(sentence, (), before, "code")
        named: list[int] = []
        for match in _MARKER.finditer(sentence):
            numbers = next(group for group in match.groups() if group)
            named.extend(int(number) - 1 for number in re.findall(r"\d+", numbers))
        said = without_visitor(sentence) if span.kind == "prose" and not span.mark else sentence
        text = re.sub(r"\s+([.!?,;])(?!\w)", r"\1", " ".join(_MARKER.sub("", said).split()))
        if _LEADING.match(sentence):
            text = text.lstrip(" .:–—-")
        text = f"| {text.strip('| ')}" if span.kind == "row" else without_opener(text, first=previous is None)
        cited = tuple(dict.fromkeys(number for number in named if 0 <= number < self._passages))
        return Written(text, cited, before, span.kind, span.header) if re.search(r"\w", text) else None


def _settled(whole: str) -> list[Sentence]:
    """The sentences that nothing can change any more, whatever the last word turns out to be."""
    text = _UNFINISHED_MARKER.sub("", whole)
    settled = split(text)[:-1]
    if not (word := _UNFINISHED_WORD.search(text)):
        return settled
    for other in _MAY_BECOME:
        if word.group()[0].isupper():
            other = other.capitalize()
        if split(text[: word.start()] + other)[:-1] != settled:
            return split(text[: word.start()])[:-1]
    return settled


def _before(between: str, span: Sentence, previous: Sentence | None) -> str:
    """The layout that leads to a sentence, from what stands between it and the one before."""
    if span.kind == "code" or (previous and previous.kind == "code"):
        return "\n\n"
    if span.kind == "row":
        return "\n" if previous and previous.kind == "row" else "\n\n"
    if mark := _LIST_MARK.search(between):
        return f"\n{mark['indent']}{mark['number'] + '. ' if mark['number'] else '- '}"
    return " " if previous is None or previous.block == span.block else "\n\n"


def _begun(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that begins ``tag``."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
