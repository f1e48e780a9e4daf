"""Which language a text is written in, by the function words that it holds.

Cheap enough for every question and free of any model: on judged questions it errs in at most one of a hundred
(``benchmarks/bm25_languages.py``). Documents are told by the ingestor's library, which knows more languages.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from services.shared.index.analysis.folding import fold, without_accents
from services.shared.index.analysis.function_words import LISTED, function_words
from services.shared.index.analysis.languages import script_of, treated_as

HEARD = 0.1
"""The share of a text's letters, in function words, that shows its language; running text has about 0.25."""

READ = 2_000
"""Characters of a text that are looked at."""

CLOSE = 1
"""Function words by which a question may lean away from the main language and yet be taken for both."""

_WORD = re.compile(r"[^\W\d_]+")
_POSSESSIVE = re.compile(r"'s\b")


def language_of_text(text: str) -> str | None:
    """The language whose function words stand out in the text; None when none does."""
    words = _words(text[:READ])
    heard = _heard(words).most_common(2)
    if not heard or (len(heard) > 1 and heard[0][1] == heard[1][1]):
        return None
    language = heard[0][0]
    # By letters, as a page of Chinese is one word.
    letters = sum(len(word) for word in words if word in function_words(language))
    return language if letters >= HEARD * sum(map(len, words)) else None


def languages_of_question(question: str, held: Sequence[str]) -> tuple[str, ...]:
    """In which of the languages that an index holds, the main one first, a question may be meant.

    Several where its words do not tell: then it is asked in each of them, as a wrong guess would lose passages.
    Languages that treat all of its words alike are one, and the first stands for them.
    """
    words = _words(question)
    scripts = {script_of(word[0]) for word in words}
    ways: dict[frozenset[str], str] = {}
    for language in held:
        ways.setdefault(frozenset(treated_as(language)[script] for script in scripts), language)
    if len(ways) < 2:
        return tuple(ways.values())
    counts = _heard(words)
    heard = {language: sum(counts[one] for one in way) for way, language in ways.items()}
    most = max(heard.values())
    main = next(iter(heard))
    near = {language for language, count in heard.items() if count == most}
    if heard[main] and heard[main] >= most - CLOSE:
        near.add(main)
    return tuple(language for language in heard if language in near)


def _words(text: str) -> list[str]:
    return [without_accents(word) for word in _WORD.findall(_POSSESSIVE.sub("", fold(text)))]


def _heard(words: Iterable[str]) -> Counter[str]:
    """How many of the words are function words of each language."""
    listed = _listed()
    return Counter(language for word in words for language in listed.get(word, ()))


@cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    """The languages in which each word is a function word."""
    found: dict[str, list[str]] = {}
    for language in LISTED:
        for word in function_words(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}
