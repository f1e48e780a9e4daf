"""From a model's raw stream to sentences with their citations: thoughts out, sentences cut, markers read."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.generator.domain.sentences import split

_NUMBERS = r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*"
_MARKER = re.compile(
    rf"(?<![^\W\d_])(?<!_)\s*\[({_NUMBERS})\]|(?<=\w)\[({_NUMBERS})\](?=\s*(?:[.!?,;:\[]|$))|\s*【(\d{{1,3}})[^】]*】"
)
_AFTER_STOP = re.compile(rf"([.!?。！？][\"'”’)*]*)((?:[^\S\n]*(?:\[{_NUMBERS}\]|【\d{{1,3}}[^】]*】))+)")
_LEADING = re.compile(rf"\s*(?:(?:[-*•]|\d{{1,2}}[.)])\s+)?(?:\[{_NUMBERS}\]|【\d)")
_LINE_OF_ITS_OWN = re.compile(r"(?<!\n)\n(?=\s*(?:\[\d|【\d))")
_UNFINISHED_MARKER = re.compile(r"\s*(?:\[[\d\s,;]*|【[^】]*)$")
_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(frozen=True)
class Written:
    """One sentence of the model without markers, and the passages it names: 0 for the marker [1]."""

    text: str
    cited: tuple[int, ...]


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
    to what follows. What holds no word is no sentence.
    """

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._thoughts = ThoughtFilter()
        self._buffer = ""
        self._in_front: bool | None = None

    def feed(self, piece: str) -> list[Written]:
        """Sentences that ``piece`` completed."""
        text, forget = self._thoughts.feed(piece)
        if forget:
            self._buffer, self._in_front = "", None
        self._buffer += text
        whole = self._tidied()
        cut = _UNFINISHED_MARKER.search(whole)
        spans = split(whole[: cut.start()] if cut else whole)
        if len(spans) < 2:
            return []
        self._buffer = whole[spans[-1].start :]
        return self._read(whole[span.start : span.end] for span in spans[:-1])

    def finish(self, *, cut_off: bool) -> list[Written]:
        """The rest; a sentence that the model's limit cut off is left out."""
        self._buffer += self._thoughts.finish()
        whole = self._tidied()
        sentences = [whole[span.start : span.end] for span in split(whole)]
        if cut_off and sentences and not re.search(r"[.!?。！？][\"'”’)*\]]*$", sentences[-1]):
            sentences.pop()
        return self._read(sentences)

    def _tidied(self) -> str:
        """The buffer with each marker inside of the sentence that it belongs to."""
        if self._in_front is None and re.search(r"[^\W\d]", self._buffer):
            self._in_front = _LEADING.match(self._buffer) is not None
        whole = _LINE_OF_ITS_OWN.sub("\n\n", self._buffer)
        return whole if self._in_front else _AFTER_STOP.sub(r"\2\1", whole)

    def _read(self, sentences: Iterable[str]) -> list[Written]:
        return [written for sentence in sentences if (written := self._written(sentence))]

    def _written(self, sentence: str) -> Written | None:
        named: list[int] = []
        for match in _MARKER.finditer(sentence):
            numbers = next(group for group in match.groups() if group)
            named.extend(int(number) - 1 for number in re.findall(r"\d+", numbers))
        text = re.sub(r"\s+([.!?,;])", r"\1", " ".join(_MARKER.sub("", sentence).split()))
        if _LEADING.match(sentence):
            text = text.lstrip(" .:–—-")
        cited = tuple(dict.fromkeys(number for number in named if 0 <= number < self._passages))
        return Written(text, cited) if re.search(r"\w", text) else None


def _begun(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that begins ``tag``."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
