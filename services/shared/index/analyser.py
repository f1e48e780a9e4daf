"""The one tokenizer, for the text that is indexed and for the question that is asked.

Words are case-folded and stemmed in their language; names such as ``C++``, ``.NET`` or ``v2.1`` stay whole;
compounds such as ``sign-off``, ``LQ-3007`` or an address are found whole and by their parts; scripts without
spaces are cut into pairs of characters. A language is a BCP 47 tag; without one, Latin words are English, and the
words of another script are of that script's usual language.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from services.shared.index.analysis.detection import language_of_text, languages_of_question
from services.shared.index.analysis.folding import without_accents
from services.shared.index.analysis.function_words import function_words
from services.shared.index.analysis.languages import DEFAULT, KNOWN, PLAIN, canonical, script_of, treated_as
from services.shared.index.analysis.pieces import terms
from services.shared.index.analysis.stemming import stem

ANALYSER_VERSION = "2"
"""Rises with every change of the tokens that a text gives: a stored index of other tokens is built anew."""

CACHED = 131_072
CACHED_LENGTH = 32
"""Words that are remembered with their tokens, and their longest length: a page of Chinese is one 'word'."""

_MARK = "language {}"
"""The blank keeps it apart from every token of a text."""


def tokens(text: str, language: str | None = None) -> list[str]:
    """The tokens of a text, in its order, repeats included; empty for a text without a letter or digit."""
    found: list[str] = []
    for word in text.split():
        found += _stems_cached(word, language) if len(word) <= CACHED_LENGTH else _stems(word, language)
    return found


def question_tokens(text: str, language: str | Sequence[str] | None = None) -> list[str]:
    """``tokens`` without question and stop words; all of them when nothing else would be left.

    In several languages: the tokens of each, those that they share once.
    """
    if language is None or isinstance(language, str):
        return _telling(text, language) or tokens(text, language)
    asked: Counter[str] = Counter()
    for one in language:
        asked |= Counter(question_tokens(text, one))
    return list(asked.elements())


def chunk_tokens(text: str, language: str | None) -> list[str]:
    """What a chunk is indexed by: its tokens, and a mark of the language that they were made in.

    By the mark an index knows which languages it holds. A chunk of unknown language is told by its own words.
    """
    spoken = canonical(language) or language_of_text(text) or DEFAULT
    return [*tokens(text, spoken), _MARK.format(spoken if spoken in KNOWN else PLAIN)]


def question_languages(text: str, idf: Callable[[str], float]) -> tuple[str, ...]:
    """In which of the languages that an index holds to ask it; ``idf`` is the index's, 0.0 for what it has not."""
    rarity = {language: idf(_MARK.format(language)) for language in (*KNOWN, PLAIN)}
    held = sorted((language for language in rarity if rarity[language]), key=lambda language: rarity[language])
    return languages_of_question(text, held) or (DEFAULT,)


def _telling(text: str, language: str | None) -> list[str]:
    spoken = treated_as(language)
    idle = function_words(spoken["Latin"])
    return [
        _stem(term, script, spoken)
        for word in text.split()
        for term in terms(word, spoken["Latin"], idle)
        if without_accents(term) not in function_words(spoken[script := script_of(term[0])])
    ]


def _stems(word: str, language: str | None) -> tuple[str, ...]:
    spoken = treated_as(language)
    return tuple(_stem(term, script_of(term[0]), spoken) for term in terms(word, spoken["Latin"]))


def _stem(term: str, script: str | None, spoken: Mapping[str | None, str]) -> str:
    # Pairs of characters would only crowd the words out of the stemmer's memory.
    return term if script is None else stem(term, spoken[script])


_stems_cached = lru_cache(maxsize=CACHED)(_stems)
