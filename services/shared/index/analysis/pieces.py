"""Cutting a text into terms: names such as ``C++``, ``.NET`` or ``v2.1`` whole, compounds whole and in their parts.

Scripts without spaces are cut into pairs of characters, and so is Korean, whose particles grow onto its words.
"""

import re
from collections.abc import Iterator

from services.shared.index.analysis.folding import fold

_HAN_RANGES = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Thai, Lao, Myanmar, Khmer, kana, Hangul, Han.
_SPACELESS = (
    "\u0e01-\u0e4e\u0e81-\u0eae\u0eb0-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uac00-\ud7a3" + _HAN_RANGES
)
_HAN = re.compile(f"[{_HAN_RANGES}]")
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

_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_THOUSANDS = re.compile(r",(?=\d{3})")
_VERSION = re.compile(r"v(\d+(?:\.\d+)+)")
_BETWEEN_WORDS = re.compile(r"[/:]")
_BETWEEN_PARTS = re.compile(r"[&_-]|(?<!\d)\.|\.(?!\d)")
_ADDRESS_PART = re.compile(rf"{_ALNUM}+")
_LOOSE_HYPHEN = re.compile(r"(?<=[^\W\d_])-|-(?=[^\W\d_])")

# Words that lose their vowel before the next word's, and pronouns that a question hangs behind its verb.
_ELIDED = {
    "ca": re.compile(r"^(?:[dlmnst]')"),
    "fr": re.compile(r"^(?:(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)')+"),
    "ga": re.compile(r"^(?:[bdm]')"),
    "it": re.compile(r"^(?:(?:[cdlmstv]|un|all|coll|dall|dell|nell|sull|gl|quell|quest|bell|sant|cos|com|dov|anch)')+"),
}
_HUNG_ON = {"fr": re.compile(r"(?:-t)?-(?:je|tu|ils?|elles?|on|nous|vous|ce|ci|là|moi|toi|le|la|les|lui|leur|y|en)$")}


def terms(word: str, language: str, asked_without: frozenset[str] | None = None) -> Iterator[str]:
    """The terms of what stands between two blanks, folded; ``language`` is that of its Latin letters.

    Of a question, ``asked_without`` are the words that say nothing: a compound of words that do say something is
    asked by these alone, as the whole would count the same thing once more and is rarer than it is telling.
    """
    folded = fold(word)
    for piece in (_ASCII_PIECE if folded.isascii() else _PIECE).finditer(folded):
        kind, found = piece.lastgroup, piece.group()
        if kind == "word":
            yield from _word_terms(found, language, asked_without)
        elif kind == "spaceless":
            yield from _spaceless_terms(found)
        elif kind == "email":
            yield from _address_terms(found)
        elif kind == "amount":
            yield from _amount_terms(found)
        else:
            yield found
            if kind == "dotted":
                yield found[1:]


def _spaceless_terms(run: str) -> Iterator[str]:
    """Each two neighbouring characters, and each Han character, which often is a word; a lone one as it is."""
    for n in range(max(1, len(run) - 1)):
        yield run[n : n + 2]
    if len(run) > 1:
        yield from _HAN.findall(run)


def _word_terms(word: str, language: str, asked_without: frozenset[str] | None) -> Iterator[str]:
    """The word, and its parts when it is a compound."""
    if word.isalnum():
        yield word
    else:
        for one in _BETWEEN_WORDS.split(word):
            yield from _compound_terms(one, language, asked_without)


def _compound_terms(word: str, language: str, asked_without: frozenset[str] | None) -> Iterator[str]:
    if elided := _ELIDED.get(language):
        word = elided.sub("", word)
    if hung_on := _HUNG_ON.get(language):
        word = hung_on.sub("", word)
    # The pieces beside an apostrophe mean nothing alone: "don't", "o'brien".
    word = word.removesuffix("'s").replace("'", "")
    if _ACRONYM.fullmatch(word):
        yield word.replace(".", "")
        return
    parts = _BETWEEN_PARTS.split(word)
    if asked_without is None or not _says_it_in_parts(word, parts, asked_without):
        # With and without a hyphen it is one word; between digits (2024-03-11) the hyphen stays.
        yield _LOOSE_HYPHEN.sub("", word)
    if len(parts) > 1:
        # One letter of a question says next to nothing beside the whole: "x-ray".
        yield from parts if asked_without is None else (part for part in parts if len(part) > 1 or part.isdigit())
    elif version := _VERSION.fullmatch(word):
        yield version.group(1)


def _says_it_in_parts(word: str, parts: list[str], asked_without: frozenset[str]) -> bool:
    """``boundary-layer`` does; ``sign-off``, ``e-mail`` and ``LQ-3007`` do not."""
    hyphenated = len(parts) > 1 and word.replace("-", "").isalpha()
    return hyphenated and all(len(part) > 1 and part not in asked_without for part in parts)


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
