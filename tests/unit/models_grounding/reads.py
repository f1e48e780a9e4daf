"""Texts with vectors made up from their words: the same word has the same vector wherever it stands."""

import hashlib
import re

import numpy as np

from services.shared.models.embedder import Pieces
from services.shared.models.grounding.features import FEATURES, row
from services.shared.models.grounding.reading import Read, read

WIDTH = 48


def pieces_of(text: str) -> Pieces:
    """One piece a word or sign."""
    found = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    words = [text[begin:end].casefold() for begin, end in found]
    rows = np.array([_vector(word) for word in words], dtype=np.float32).reshape(-1, WIDTH)
    return Pieces(found, [2000 + 10 * len(word) for word in words], rows)


def reading(text: str) -> Read:
    """The text as the model would see it."""
    found = read(text, pieces_of(text))
    assert found is not None
    return found


def features(claim: str, evidence: str) -> dict[str, float]:
    """The features of a pair, by name."""
    return dict(zip(FEATURES, row(reading(claim), reading(evidence)), strict=True))


def _vector(word: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).normal(size=WIDTH)
