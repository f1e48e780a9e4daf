"""From a model's raw stream to sentences with their citations: thoughts out, sentences cut, markers read."""

import re
from dataclasses import dataclass

from services.generator.domain.sentences import split

_NUMBERS = r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*"
_MARKER = re.compile(
    rf"(?<![^\W\d_])(?<!_)\s*\[({_NUMBERS})\]|(?<=\w)\[({_NUMBERS})\](?=\s*(?:[.!?,;:\[]|$))|\s*【(\d{{1,3}})[^】]*】"
)
_AFTER_STOP = re.compile(rf"([.!?。！？][\"'”’)*]*)((?:\s*(?:\[{_NUMBERS}\]|【\d{{1,3}}[^】]*】))+)")
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
    """Gives a sentence out as soon as the next one has begun, so that a marker behind the full stop is in it."""

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self._thoughts = ThoughtFilter()
        self._buffer = ""

    def feed(self, piece: str) -> list[Written]:
        """Sentences that ``piece`` completed."""
        text, forget = self._thoughts.feed(piece)
        self._buffer = text if forget else self._buffer + text
        whole = _AFTER_STOP.sub(r"\2\1", self._buffer)
        cut = _UNFINISHED_MARKER.search(whole)
        spans = split(whole[: cut.start()] if cut else whole)
        if len(spans) < 2:
            return []
        self._buffer = whole[spans[-1].start :]
        return [self._read(whole[span.start : span.end]) for span in spans[:-1]]

    def finish(self, *, cut_off: bool) -> list[Written]:
        """The rest; a sentence that the model's limit cut off is left out."""
        whole = _AFTER_STOP.sub(r"\2\1", self._buffer + self._thoughts.finish())
        sentences = [whole[span.start : span.end] for span in split(whole)]
        if cut_off and sentences and not re.search(r"[.!?。！？][\"'”’)*\]]*$", sentences[-1]):
            sentences.pop()
        return [self._read(sentence) for sentence in sentences]

    def _read(self, sentence: str) -> Written:
        named: list[int] = []
        for match in _MARKER.finditer(sentence):
            numbers = next(group for group in match.groups() if group)
            named.extend(int(number) - 1 for number in re.findall(r"\d+", numbers))
        text = re.sub(r"\s+([.!?,;])", r"\1", " ".join(_MARKER.sub("", sentence).split()))
        cited = tuple(dict.fromkeys(number for number in named if 0 <= number < self._passages))
        return Written(text, cited)


def _begun(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that begins ``tag``."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
