"""The one tokenizer, for the text that is indexed and for the question that is asked.

Words are case-folded and stemmed; names such as ``C++``, ``.NET`` or ``v2.1`` stay whole; compounds such as
``sign-off``, ``LQ-3007`` or an address are found whole and by their parts; scripts without spaces are cut into
pairs of characters. The stemmer is English for now; another language means another ``_stem``.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import snowballstemmer

ANALYSER_VERSION = "1"
"""Rises with every change of the tokens that a text gives: a stored index of other tokens is built anew."""

CACHED = 65_536
CACHED_LENGTH = 32
"""Words that are remembered with their tokens, and their longest length: a page of Chinese is one 'word'."""

STEMMED_LENGTH = 40
"""A longer run of letters is no English word."""

# Thai, Lao, Myanmar, Khmer, kana, Han: written without spaces between words.
_SPACELESS = (
    "\u0e01-\u0e4e\u0e81-\u0eae\u0eb0-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Letters and digits of the other scripts; Indic vowel signs are marks, which \w leaves out.
_ALNUM = rf"(?:(?![{_SPACELESS}])[^\W_]|[\u0900-\u0963\u0966-\u0dff])"
_ASCII_ALNUM = "[a-z0-9]"


def _pieces(alnum: str) -> re.Pattern[str]:
    """What is cut out of a text. Possessive and bounded repeats keep a hostile text linear."""
    return re.compile(
        rf"""
          (?P<spaceless> [{_SPACELESS}]+ )
        | (?P<email>     {alnum}[\w.+-]{{0,63}}@{alnum}[\w-]{{0,62}}(?:\.{alnum}[\w-]{{0,62}}){{1,8}} )
        | (?P<sign>      {alnum}{{1,40}}+(?:\+\+|\#)(?![+\#]) )                          # C++, C#
        | (?P<dotted>    (?<![\w.])\.[a-z]{alnum}++ )                                  # .NET
        | (?P<amount>    [$€£¥]?\d{{1,3}}(?:,\d{{3}}){{1,6}}(?:\.\d+)?%?(?!,?\d)         # 1,200.50
                       | [$€£¥]\d+(?:\.\d+)?%? | \d+(?:[.,]\d+)?% )                    # $75, 85.3%
        | (?P<word>      {alnum}++(?:['.&_/:-]{alnum}++)* )
        """,
        re.VERBOSE,
    )


_PIECE = _pieces(_ALNUM)
_ASCII_PIECE = _pieces(_ASCII_ALNUM)
"""The same for ASCII text alone, which is most of it, several times quicker."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_ALIKE = {ord(c): "'" for c in "‘’‛ʼ＇`´"} | {ord(c): "-" for c in "‐‑‒–−"} | _INVISIBLE
_ACCENTS = re.compile(r"([a-z])[\u0300-\u036f]+")
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_THOUSANDS = re.compile(r",(?=\d{3})")
_VERSION = re.compile(r"v(\d+(?:\.\d+)+)")
_BETWEEN_WORDS = re.compile(r"[/:]")
_BETWEEN_PARTS = re.compile(r"[&_-]|(?<!\d)\.|\.(?!\d)")
_ADDRESS_PART = re.compile(rf"{_ALNUM}+")
_LOOSE_HYPHEN = re.compile(r"(?<=[^\W\d_])-|-(?=[^\W\d_])")

# fmt: off
_STOP_WORDS = frozenset({
    "a", "about", "am", "an", "and", "any", "anyone", "are", "as", "at", "be", "been", "being", "but", "by", "can",
    "could", "did", "do", "does", "doing", "done", "for", "from", "had", "has", "have", "having", "he", "her",
    "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "me", "mine", "my", "of", "off",
    "on", "or", "our", "ours", "please", "shall", "she", "should", "so", "some", "tell", "than", "that", "the",
    "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your", "yours", "arent", "cant", "couldnt", "didnt", "doesnt", "dont", "hasnt", "havent", "hes", "im",
    "isnt", "ive", "shes", "thats", "theres", "theyre", "wasnt", "werent", "whats", "whos", "wont", "wouldnt",
    "youre",
})
# fmt: on
"""Words that shape a question and say nothing of its subject; each is also met without its apostrophe."""


def tokens(text: str) -> list[str]:
    """The tokens of a text, in its order, repeats included; empty for a text without a letter or digit."""
    found: list[str] = []
    for word in text.split():
        found += _stems_cached(word) if len(word) <= CACHED_LENGTH else _stems(word)
    return found


def question_tokens(text: str) -> list[str]:
    """``tokens`` without question and stop words; all of them when nothing else would be left."""
    telling = [_stem(term) for word in text.split() for term in _terms(word) if term not in _STOP_WORDS]
    return telling or tokens(text)


def _stems(word: str) -> tuple[str, ...]:
    return tuple(_stem(term) for term in _terms(word))


_stems_cached = lru_cache(maxsize=CACHED)(_stems)


def _terms(word: str) -> Iterator[str]:
    """Tokens before stemming of what stands between two blanks."""
    folded = _folded(word)
    for piece in (_ASCII_PIECE if folded.isascii() else _PIECE).finditer(folded):
        kind, found = piece.lastgroup, piece.group()
        if kind == "word":
            yield from _word_terms(found)
        elif kind == "spaceless":
            yield from (found[n : n + 2] for n in range(max(1, len(found) - 1)))
        elif kind == "email":
            yield from _address_terms(found)
        elif kind == "amount":
            yield from _amount_terms(found)
        else:
            yield found
            if kind == "dotted":
                yield found[1:]


def _folded(text: str) -> str:
    """One spelling of what looks the same: width, ligatures, case, quotes, hyphens, accents on Latin letters."""
    if text.isascii():
        return text.replace("`", "'").lower()
    folded = unicodedata.normalize("NFKC", text).translate(_ALIKE).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub(r"\1", unicodedata.normalize("NFD", folded)))


def _word_terms(word: str) -> Iterator[str]:
    """The word, and its parts when it is a compound."""
    if word.isalnum():
        yield word
    else:
        for one in _BETWEEN_WORDS.split(word):
            yield from _compound_terms(one)


def _compound_terms(word: str) -> Iterator[str]:
    # The pieces beside an apostrophe mean nothing alone: "don't", "o'brien".
    word = word.removesuffix("'s").replace("'", "")
    if _ACRONYM.fullmatch(word):
        yield word.replace(".", "")
        return
    # With and without a hyphen it is one word; between digits (2024-03-11) the hyphen stays.
    yield _LOOSE_HYPHEN.sub("", word)
    parts = _BETWEEN_PARTS.split(word)
    if len(parts) > 1:
        yield from parts
    elif version := _VERSION.fullmatch(word):
        yield version.group(1)


def _amount_terms(amount: str) -> Iterator[str]:
    """With its sign and without; a comma between thousands is no part of the number."""
    whole = _THOUSANDS.sub("", amount)
    yield whole
    bare = whole.strip("$€£¥%")
    if bare != whole:
        yield bare


def _address_terms(address: str) -> Iterator[str]:
    yield address
    _, _, domain = address.partition("@")
    yield domain
    yield from _ADDRESS_PART.findall(address)


_stemming = threading.Lock()
_stemmer: "snowballstemmer.stemmer | None" = None


@lru_cache(maxsize=CACHED)
def _stem(term: str) -> str:
    """The English stem of a plain word; every other token as it is. Cached: the stemmer is slow."""
    global _stemmer
    if len(term) > STEMMED_LENGTH or not (term.isascii() and term.isalpha()):
        return term
    # A stemmer keeps the word in itself, so two threads must not share it at the same moment.
    with _stemming:
        if _stemmer is None:
            import snowballstemmer

            _stemmer = snowballstemmer.stemmer("english")
        return str(_stemmer.stemWord(term))
