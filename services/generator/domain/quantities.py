"""Numbers, units, dates and times of a text in one spelling each, so that two texts can be held against each other.

Safe equalities only: 1,200 is 1200, "1.2 thousand" is 1200, 60 minutes are an hour, 2025-10-07 is 7 October 2025,
5:45 pm is 17:45. Nothing is rounded, and no currency or data size is turned into another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from services.generator.domain.dates import Date, dates, times, without_dates
from services.generator.domain.units import UNITS

_ONES_LIST = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_ONES = _ONES_LIST.split()
_TENS_LIST = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = _TENS_LIST.split()
_WORDS = {word: value for value, word in enumerate(_ONES)} | {word: 20 + 10 * at for at, word in enumerate(_TENS)}
_WORDS |= {"dozen": 12, "null": 0, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8}
_WORDS |= {"neun": 9, "zehn": 10, "elf": 11, "zwölf": 12}
_ORDINALS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9}
_ORDINALS |= {"tenth": 10, "twelfth": 12}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALES |= {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tausend": 10**3, "millionen": 10**6}
_SCALES |= {"milliarden": 10**9}

_WORD_NUMBER = "|".join(sorted([*_WORDS, *_ORDINALS], key=len, reverse=True))
_SPELLED = re.compile(
    rf"(?<![\w-])(?:(?:{'|'.join(_TENS)})[- ](?:{'|'.join(_ONES[1:10])})|{_WORD_NUMBER})"
    rf"(?:[- ](?:{_WORD_NUMBER}|hundred|thousand|million|billion|and))*(?![\w-])",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(?<![\w.,/#§])(?<![A-Za-z]-)(?P<sign>[-−+]?)(?P<money>[€$£]\s?)?"
    r"(?P<number>\d{1,3}(?:[,'’\u202f ]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?:st|nd|rd|th)?(?![.,/:]\d)(?!\w*\d)(?=\W|$|[^\W\d_]{1,3}\b|[€%°])"
)
_AFTER = re.compile(r"[\s-]?(?P<word>per ?cent|%|€|°\s?[CF]\b|[^\W\d_]+)", re.IGNORECASE)
_LABEL = re.compile(
    r"\b(level|rule|chapter|section|page|room|platform|gate|line|step|phase|stage|part|figure|table|class|grade|floor"
    r"|article|berth|code|port|release|version|tier|age|aged|number|week|day|item|unit|block|door|question)s? $",
    re.IGNORECASE,
)
_LINK = re.compile(r"\s*(?:to|and|or|bis|und|oder|-|–|—)\s*$")


@dataclass(frozen=True)
class Quantity:
    """A number as values that it may mean (1.200 is 1200), its unit if any, and the words that follow it.

    ``label`` is what it numbers, such as level or rule, where that stands before it.
    """

    values: frozenset[Decimal]
    unit: str
    spelling: str
    counted: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class Quantities:
    """All of a text. ``times`` are minutes of the day, in each way that they may be read."""

    numbers: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    times: tuple[tuple[frozenset[int], str], ...]
    units: frozenset[str]


def quantities(text: str) -> Quantities:
    """What ``text`` measures, counts and dates. Codes such as v2.1.4 or X-40 are no numbers."""
    found_dates, found_times = dates(text), times(text)
    rest = without_dates(text)
    raw = sorted([*_in_digits(rest), *_in_words(rest)], key=lambda one: one[0])
    units = frozenset(unit for word in re.findall(r"[^\W\d_]+|[%€$£]", text.casefold()) if (unit := _unit(word)))
    return Quantities(tuple(_linked(rest, raw)), tuple(found_dates), tuple(found_times), units)


def _unit(word: str) -> str:
    return UNITS[word][0] if word in UNITS else ""


def _in_digits(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _DIGITS.finditer(text):
        values = _values(match["number"])
        if match["sign"] in ("-", "−") and re.match(r"(?:^|[\s(])$", text[match.start() - 1 : match.start()] or " "):
            values = {-value for value in values}
        end, values, unit, factor = _behind(text, match.end(), values)
        if match["money"]:
            unit, factor = match["money"].strip(), Decimal(1)
        scaled = frozenset(value * factor for value in values)
        yield (
            match.start(),
            end,
            Quantity(scaled, unit, text[match.start() : end].strip(), *_around(text, match.start(), end)),
        )


def _in_words(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _SPELLED.finditer(text):
        spelled = match.group().casefold().removesuffix(" and")
        if spelled in ("one", "second", "third", "null") or (value := _spelled(spelled)) is None:
            continue
        start, stop = match.start(), match.start() + len(spelled)
        end, values, unit, factor = _behind(text, stop, {Decimal(value)})
        scaled = frozenset(value * factor for value in values)
        yield start, end, Quantity(scaled, unit, text[start:end].strip(), *_around(text, start, end))


def _behind(text: str, end: int, values: set[Decimal]) -> tuple[int, set[Decimal], str, Decimal]:
    """The scale and the unit that follow a number, and where they end."""
    after = _AFTER.match(text, end)
    if after and (scale := _SCALES.get(after["word"].casefold())) and _is_scale(text, after):
        values = {value * scale for value in values}
        end = after.end()
        after = _AFTER.match(text, end)
    if after:
        word = re.sub(r"\s", "", after["word"].casefold())
        if word in UNITS:
            unit, factor = UNITS[word]
            return after.end(), values, unit, factor
    return end, values, "", Decimal(1)


def _is_scale(text: str, after: re.Match[str]) -> bool:
    """A single letter counts only right behind the number's digits: "5 m" are metres, "$5m" are millions."""
    word = after["word"]
    if word.casefold() == "m":
        priced = re.search(r"[€$£]\s?[\d.,]+$", text[: after.start()])
        return after.start("word") == after.start() and priced is not None
    return len(word) > 1 or after.start("word") == after.start()


def _values(number: str) -> set[Decimal]:
    plain = re.sub(r"(?<=\d)[,'’\u202f ](?=\d{3}(?!\d))", "", number)
    found = {Decimal(plain.replace(",", "."))}
    if re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", number):
        return {Decimal(number.replace(",", "").replace(".", ""))}
    return found


def _spelled(words: str) -> int | None:
    total, current = 0, 0
    for word in re.split(r"[- ]", words):
        if word == "and":
            continue
        if word == "dozen":
            current = (current or 1) * 12
        elif word in _SCALES:
            current = (current or 1) * _SCALES[word]
            if _SCALES[word] > 100:
                total, current = total + current, 0
        elif word in _WORDS:
            current += _WORDS[word]
        elif word in _ORDINALS:
            current += _ORDINALS[word]
        else:
            return None
    return total + current


def _around(text: str, start: int, end: int) -> tuple[tuple[str, ...], str]:
    """The next two words of the same clause, in which the counted thing stands, and the label before the number."""
    after = re.match(r"(?:[\s-]+[^\W\d_]+){1,2}", text[end : end + 60])
    label = _LABEL.search(text[max(0, start - 20) : start])
    counted = tuple(word.casefold() for word in re.findall(r"[^\W\d_]+", after.group())) if after else ()
    return counted, label[1].casefold() if label else ""


def _linked(text: str, raw: list[tuple[int, int, Quantity]]) -> Iterator[Quantity]:
    """In "180 to 40 ms" both are milliseconds."""
    for at, (_, end, one) in enumerate(raw):
        if not one.unit and at + 1 < len(raw) and raw[at + 1][2].unit and _LINK.fullmatch(text[end : raw[at + 1][0]]):
            following = raw[at + 1][2]
            factor = next(iter(_factors(following)), Decimal(1))
            one = Quantity(
                frozenset(value * factor for value in one.values), following.unit, one.spelling, one.counted, one.label
            )
        yield one


def _factors(quantity: Quantity) -> Iterator[Decimal]:
    words = re.findall(r"[^\W\d_]+|%", quantity.spelling.casefold())
    yield from (UNITS[word][1] for word in reversed(words) if word in UNITS)
