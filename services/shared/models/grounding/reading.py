"""A text as the grounding model sees it: words with a vector each, what kind of word each is, and sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.shared.models.embedder import Pieces
from services.shared.models.grounding.wordlists import DENIALS, NUMBER_WORDS, STOP_WORDS

Rows = NDArray[np.float64]
Flags = NDArray[np.bool_]

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W_]+(?:['’][^\W_]+)*|[%+#$€£]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(\[])|\n+")

RARITY_FLOOR, RARITY_SPAN = 6.5, (0.5, 4.0)
"""The model's vocabulary is ordered by how common a piece is, so the logarithm of its number says how telling it is."""

STOP_WORD_WEIGHT = 0.1


@dataclass(frozen=True)
class Read:
    """A text, word by word. All sequences have one entry for each word, except ``sentence_vectors``."""

    words: tuple[str, ...]
    """Small letters, numbers in figures without separators of thousands."""
    stems: tuple[str, ...]
    numbers: Flags
    names: Flags
    """By a capital letter that the start of the text does not explain."""
    telling: Flags
    """Neither a stop word nor a denial."""
    denials: Flags
    weights: Rows
    vectors: Rows
    """(words, width), length 1."""
    sentences: NDArray[np.intp]
    """Which sentence each word stands in."""
    sentence_vectors: Rows
    """(sentences, width), length 1."""
    vector: Rows
    """(width), length 1: the text's own."""

    def part(self, sentences: Sequence[int]) -> "Read":
        """The text cut down to some of its sentences, in which it must have words; the vectors stay as they are."""
        kept = np.flatnonzero(np.isin(self.sentences, sentences))
        vectors = self.sentence_vectors[list(sentences)]
        return Read(
            words=tuple(self.words[place] for place in kept),
            stems=tuple(self.stems[place] for place in kept),
            numbers=self.numbers[kept],
            names=self.names[kept],
            telling=self.telling[kept],
            denials=self.denials[kept],
            weights=self.weights[kept],
            vectors=self.vectors[kept],
            sentences=np.searchsorted(np.asarray(sentences), self.sentences[kept]),
            sentence_vectors=vectors,
            vector=_unit(vectors.mean(axis=0)),
        )


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where sentences begin and end, roughly: good enough to tell the near from the far part of an evidence."""
    spans, begin = [], 0
    for match in _SENTENCE_END.finditer(text):
        if text[begin : match.start()].strip():
            spans.append((begin, match.start()))
            begin = match.end()
    if text[begin:].strip():
        spans.append((begin, len(text)))
    return spans


def read(text: str, pieces: Pieces) -> Read | None:
    """A text and its pieces; None when no word of it has a piece."""
    starts = np.array([begin for begin, _ in pieces.spans], dtype=np.intp)
    found = []
    for match in _WORD.finditer(text):
        own = np.flatnonzero((starts >= match.start()) & (starts < match.end()))
        if len(own):
            found.append((match.start(), match.group(), own))
    if not found:
        return None
    spans = sentence_spans(text)
    ends = np.array([end for _, end in spans], dtype=np.intp)
    piece_vectors = pieces.vectors.astype(np.float64)
    written = [word for _, word, _ in found]
    words = tuple(_plain(word) for word in written)
    denials = np.array([word in DENIALS or word.endswith("n't") for word in words])
    telling = np.array([word not in STOP_WORDS for word in words]) & ~denials
    rarest = np.array([max(pieces.ids[place] for place in own) for _, _, own in found])
    weights = np.clip(np.log1p(rarest) - RARITY_FLOOR, *RARITY_SPAN) / 2
    in_sentence = np.searchsorted(ends, starts, side="right")
    return Read(
        words=words,
        stems=tuple(_stem(word) for word in words),
        numbers=np.array([word[0].isdigit() for word in words]),
        names=np.array([_is_name(word, first=not place) for place, word in enumerate(written)]),
        telling=telling,
        denials=denials,
        weights=np.where(telling, weights, STOP_WORD_WEIGHT),
        vectors=_unit(np.array([piece_vectors[own].mean(axis=0) for _, _, own in found])),
        sentences=np.searchsorted(ends, [begin for begin, _, _ in found], side="right"),
        sentence_vectors=_unit(
            np.array([piece_vectors[in_sentence == number].sum(axis=0) for number in range(len(spans))])
        ),
        vector=_unit(piece_vectors.mean(axis=0)),
    )


def _plain(word: str) -> str:
    plain = re.sub(r"'s$", "", word.casefold().replace("’", "'"))
    return NUMBER_WORDS.get(plain, re.sub(r"(?<=\d),(?=\d{3})", "", plain) if plain[:1].isdigit() else plain)


def _stem(word: str) -> str:
    """Cuts the commonest English endings."""
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("e", 4), ("ly", 5)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _is_name(written: str, *, first: bool) -> bool:
    if written[0].isdigit():
        return False
    return any(sign.isupper() for sign in written[1:]) or (written[0].isupper() and not first)


def _unit(vectors: Rows) -> Rows:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9))
