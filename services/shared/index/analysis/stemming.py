"""Stems of words by Snowball, each remembered, for a stemmer in Python is slow."""

import re
import threading
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from services.shared.index.analysis.folding import without_accents
from services.shared.index.analysis.languages import STEMMERS

if TYPE_CHECKING:
    import snowballstemmer

CACHED = 131_072
"""Words that are remembered."""

STEMMED_LENGTH = 40
"""A longer run of letters is no word."""

# A word of an Indic script holds marks, so that it is not letters alone.
_NO_WORD = re.compile(r"[\d.&_@+#%$€£¥'/:-]")

_WITHOUT_ACCENTS = "en"
"""Its stemmer knows none, and its writers may leave them out: ``cafés``."""

# A stemmer keeps the word in itself, so two threads must not share it at the same moment.
_stemming = threading.Lock()


@lru_cache(maxsize=CACHED)
def stem(term: str, language: str) -> str:
    """The stem of a folded word of a language, without accents; every other token as it is."""
    if len(term) > STEMMED_LENGTH or _NO_WORD.search(term):
        return without_accents(term)
    stemmer = _stemmer(language)
    if stemmer is None:
        return without_accents(term)
    if language == _WITHOUT_ACCENTS:
        term = without_accents(term)
    with _stemming:
        stemmed = str(stemmer.stemWord(term))
    return without_accents(stemmed) or term


@cache
def _stemmer(language: str) -> "snowballstemmer.stemmer | None":
    if language not in STEMMERS:
        return None
    import snowballstemmer

    return snowballstemmer.stemmer(STEMMERS[language])
