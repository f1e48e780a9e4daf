"""One spelling of a text's words, numbers, units and dates, so that two texts can be compared word by word.

Case, white space, punctuation, Markdown, typography and citation markers fall away. ``1,214`` is ``1214``, ``40 %``
is ``40 percent``, ``thirteen weeks`` and ``13-week`` are ``13 week``, ``between 10 and 13`` is ``10 to 13``,
``2026-09-01`` and ``01.09.2026`` are ``1 september 2026``, ``isn't`` is ``is not``. Both texts of a comparison go
through the same, so what is equal stays equal.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal


@dataclass(frozen=True)
class Word:
    """A word or number in its one spelling; ``gap`` is what stands between it and the word before."""

    text: str
    gap: str

    @property
    def is_number(self) -> bool:
        return self.text[-1].isdigit() and self.text.lstrip("-")[0].isdigit()


_NUMBERS_LIST = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_CODE_OR_MARKER = re.compile(
    rf"(```.*?```|~~~.*?~~~|`[^`\n]*`)|[^\S\n]{{0,3}}(?:\[{_NUMBERS_LIST}\]|【\d{{1,3}}[^】]{{0,40}}】)", re.DOTALL
)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(([^()\s]*)[^()\n]*\)")
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
_MONTHS_LIST = "january february march april may june july august september october november december"
_MONTHS = _MONTHS_LIST.split()
_SHORT_MONTHS = {name[:3]: name for name in _MONTHS} | {"sept": "september"}

_DIGITS = r"\d+(?:[.,]\d+)*"
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]"), ""),
    (re.compile("[‘’‚‛′]"), "'"),
    (re.compile("[“”„‟«»″]"), '"'),
    (re.compile("[\u2010-\u2015\u2212]"), "-"),
    (re.compile(r"`|~~|(?<!\d)\*{1,3}|\*{1,3}(?!\d)"), ""),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?<=\w)'s\b"), ""),
    (re.compile(r"&"), " and "),
    (re.compile(r"%|\bper cent\b"), " percent"),
    (re.compile(r"€"), " eur "),
    (re.compile(r"\$"), " usd "),
    (re.compile(r"£"), " gbp "),
    (re.compile(rf"\b(eur|usd|gbp|chf)\s*({_DIGITS}k?)(?!\w)"), r"\2 \1"),
    (re.compile(r"(?<=\d)k\b"), " thousand"),
    (re.compile(r"\bhalf a dozen\b"), "6"),
    (re.compile(r"\ba (?=(?:dozen|hundred|thousand|million|billion)\b)"), "one "),
    (re.compile(r"(?<=\d)\s?bn\b"), " billion"),
    (re.compile(r"(?<=\d)(?:st|nd|rd|th)\b"), ""),
    (re.compile(r"\bv(?=\d)"), ""),
)
_ISO_DATE = re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\w-])")
_DOTTED_DATE = re.compile(r"(?<![\w.])(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.([12]\d{3})(?![\w-]|\.\d)")
_RANGE = re.compile(r"(?<=\d)\s?-\s?(?=\d)")
_THOUSANDS = re.compile("(?<=\\d)[\u00a0\u202f\u2009'’](?=\\d{3}(?!\\d))")

_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]"
_WORD = re.compile(
    rf"((?<![\w)\]])-(?=\d))?({_DIGITS})|({_UNSPACED})|((?:(?!{_UNSPACED})[^\W\d_])(?:(?!{_UNSPACED})[^\W_])*[+#]*)"
)

_SMALL_LIST = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS_LIST = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_SMALL_LIST.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_LIST.split(), start=2)}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNITS_LIST = (
    "ms millisecond milliseconds|second s sec secs seconds|minute min mins minutes|hour h hr hrs hours|day days"
    "|week weeks wk wks|month months|year years yr yrs|percent|eur euro euros|usd dollar dollars|gbp|chf|kg kilogram"
    " kilograms kilos|km kilometre kilometres kilometer kilometers|cm centimetre centimetres centimeter centimeters"
    "|mm millimetre millimetres millimeter millimeters|metre m metres meter meters|kb kilobyte kilobytes"
    "|mb megabyte megabytes|gb gigabyte gigabytes|tb terabyte terabytes|person people persons"
)
_UNITS = {word: unit.split()[0] for unit in _UNITS_LIST.split("|") for word in unit.split()}


def without_markers(text: str) -> str:
    """The text without its [1] and the space before them; what looks like one in code stays."""
    return _CODE_OR_MARKER.sub(lambda match: match.group(1) or "", text)


def words(text: str) -> list[Word]:
    """The text's words in order. Addresses behind links stand after everything else."""
    folded = _folded(text)
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(folded):
        sign, digits, character, word = match.groups()
        spelled = (sign or "") + _number(digits) if digits else character or word
        found.append(Word("not" if spelled == "never" else spelled, folded[end : match.start()]))
        end = match.end()
    return list(_with_ranges(list(_with_units(list(_with_numbers(list(_without_articles(found))))))))


def spelled(text: str) -> list[str]:
    """The words alone."""
    return [word.text for word in words(text)]


def places(needle: Sequence[str], among: Sequence[Word]) -> list[int]:
    """Where the words of ``needle`` begin among the others, one after another; a day and month in either order."""
    texts = [word.text for word in among]
    wanted = {tuple(needle), *_other_order(needle)}
    return [at for at in range(len(texts)) if any(texts[at : at + len(one)] == list(one) for one in wanted if one)]


def _other_order(needle: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for at in range(len(needle) - 1):
        one, other = needle[at : at + 2]
        if (one in _MONTHS and other.isdigit() and int(other) <= 31) or (other in _MONTHS and one.isdigit()):
            yield (*needle[:at], other, one, *needle[at + 2 :])


def _folded(text: str) -> str:
    """Lower case, without accents, markers and Markdown, with one form of every sign."""
    addresses = [match.group(2) for match in _LINK.finditer(text)]
    plain = _LINK.sub(r"\1", without_markers(html.unescape(text)))
    plain = _THOUSANDS.sub("", _TAG.sub(" ", plain))
    plain = "\n".join([plain, *addresses])
    parts = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", plain).casefold())
    plain = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", parts))
    for pattern, instead in _SPELLINGS:
        plain = pattern.sub(instead, plain)
    plain = _ISO_DATE.sub(lambda match: f"{int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}", plain)
    plain = _DOTTED_DATE.sub(lambda match: f"{int(match[1])} {_MONTHS[int(match[2]) - 1]} {match[3]}", plain)
    return _RANGE.sub(" to ", plain)


def _number(digits: str) -> str:
    """``1,214`` and ``0047`` without what is no digit of the value; a version such as 3.10 stays as it is."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?", digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", digits):
        digits = digits.replace(",", ".")
    if re.fullmatch(r"\d+(?:\.0+)?", digits):
        return str(int(digits.split(".")[0]))
    return digits


def _without_articles(found: Sequence[Word]) -> Iterator[Word]:
    gap = ""
    for word in found:
        if word.text == "the":
            gap += word.gap
            continue
        yield replace(word, gap=gap + word.gap)
        gap = ""


def _with_numbers(found: Sequence[Word]) -> Iterator[Word]:
    """Number words as digits, thirty-five as 35, 3.1 million as 3100000, four and a half as 4.5."""
    at = 0
    while at < len(found):
        word = found[at]
        value = _value(word)
        at += 1
        if value is None:
            yield word
            continue
        if word.text in _TENS and at < len(found) and 0 < _SMALL.get(found[at].text, 0) < 10:
            value += _SMALL[found[at].text]
            at += 1
        halved = [one.text for one in found[at : at + 3]] == ["and", "a", "half"] and value == int(value)
        if halved:
            value += Decimal("0.5")
            at += 3
        scaled = halved
        while at < len(found) and found[at].text in _SCALES:
            value, scaled = value * _SCALES[found[at].text], True
            at += 1
        spelled_out = scaled or word.text in _SMALL or word.text in _TENS
        yield replace(word, text=_plain(value)) if spelled_out else word


def _value(word: Word) -> Decimal | None:
    if word.text in _SMALL or word.text in _TENS:
        return Decimal(_SMALL.get(word.text, 0) + _TENS.get(word.text, 0))
    return Decimal(word.text) if re.fullmatch(r"\d+(?:\.\d+)?", word.text) else None


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_units(found: Sequence[Word]) -> Iterator[Word]:
    """One name for each unit behind a number, whose value then counts (1.50 is 1.5), and whole names of months."""
    for at, word in enumerate(found):
        before = found[at - 1] if at else None
        after = found[at + 1] if at + 1 < len(found) else None
        if before and before.is_number and word.text in _UNITS:
            yield replace(word, text=_UNITS[word.text])
        elif word.is_number and after and after.text in _UNITS and (value := _value(word)) is not None:
            yield replace(word, text=_plain(value))
        elif word.text in _SHORT_MONTHS and any(one and one.is_number for one in (before, after)):
            yield replace(word, text=_SHORT_MONTHS[word.text])
        else:
            yield word


def _with_ranges(found: Sequence[Word]) -> Iterator[Word]:
    """Between 10 and 13 weeks as 10 to 13 weeks, also where a unit stands behind both numbers."""
    ands: set[int] = set()
    for at, word in enumerate(found):
        if word.text == "between" and at + 1 < len(found) and found[at + 1].is_number:
            middle = [here for here in (at + 2, at + 3) if here + 1 < len(found) and found[here].text == "and"]
            if middle and found[middle[0] + 1].is_number:
                ands.add(middle[0])
                continue
        yield replace(word, text="to") if at in ands else word
