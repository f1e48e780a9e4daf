"""Dates and times of day in their usual English, German and ISO spellings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.generator.domain.units import UNITS

_MONTH_LIST = (
    "jan january januar|feb february februar|mar march märz mär|apr april|may mai|jun june juni|jul july juli"
    "|aug august|sep sept september|oct october okt oktober|nov november|dec december dez dezember"
)
_MONTHS = {name: at for at, names in enumerate(_MONTH_LIST.split("|"), start=1) for name in names.split()}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:1[5-9]\d\d|20\d\d)"
_MEASURED = r"(?!\s?(?:" + "|".join(re.escape(name) for name in UNITS) + r")(?!\w))"
"""1500 g is no year."""
_FORMS: tuple[re.Pattern[str], ...] = (
    re.compile(rf"(?<![\w-])(?P<y>{_YEAR})-(?P<m>0[1-9]|1[0-2])(?:-(?P<d>{_DAY}))?(?![\w-])"),
    re.compile(rf"(?<![\w.])(?P<d>{_DAY})(?:st|nd|rd|th|\.)?(?: of)? (?P<n>{_MONTH})(?:,? (?P<y>{_YEAR}))?", re.I),
    re.compile(rf"(?<!\w)(?P<n>{_MONTH}) (?P<d>{_DAY})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<y>{_YEAR}))?", re.I),
    re.compile(rf"(?<!\w)(?P<n>{_MONTH}),? (?:of )?(?P<y>{_YEAR})", re.I),
    re.compile(rf"(?<![\w.])(?P<d>{_DAY})\.(?P<m>0?[1-9]|1[0-2])\.(?P<y>{_YEAR})?(?!\w)"),
    re.compile(rf"(?<![\w/])(?P<d>{_DAY})/(?P<m>{_DAY})/(?P<y>{_YEAR})(?![\w/])"),
    re.compile(rf"(?<=\b[Ii]n )(?P<n>{_MONTH})|(?:(?<=\bof )|(?<=\bsince )|(?<=\bby )|(?<=\buntil ))(?P<k>[A-Z]\w+)"),
    re.compile(rf"(?<![\w.,#§€$£])(?<![A-Za-z][-/])(?P<y>{_YEAR})(?!\w|[.,:]\d|[-/][A-Za-z]){_MEASURED}", re.I),
)
_NAMED_TIME = {"noon": 720, "midday": 720, "midnight": 0}
_TIME = re.compile(
    r"(?<![\w.:,])(?P<h>[01]?\d|2[0-4])(?:(?P<sep>[:.])(?P<m>[0-5]\d))?(?::[0-5]\d)?\s?(?P<half>[ap]\.?m\b\.?)?"
    r"(?P<clock> ?o['’]clock| Uhr)?(?![\w:])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Date:
    """What a text says of a date; 0 where it does not. ``swapped`` holds where day and month may be exchanged."""

    year: int
    month: int
    day: int
    spelling: str
    swapped: bool = False

    def is_said_by(self, other: "Date") -> bool:
        """Whether ``other`` holds every part of this date.

        A date that readers may take for another day, 05/03/2026, is said only by the same spelling.
        """
        if self.swapped and not other.swapped:
            return False
        ways = {(other.month, other.day)} | ({(other.day, other.month)} if other.swapped > self.swapped else set())
        year = not self.year or self.year == other.year
        return year and any((not self.month or self.month == m) and (not self.day or self.day == d) for m, d in ways)


def dates(text: str) -> list[Date]:
    """Full dates, months with a year or behind "in", and years from 1500 to 2099."""
    return [date for _, date in _found(text)]


def times(text: str) -> list[tuple[frozenset[int], str]]:
    """Times of day as minutes. A time before one o'clock in the afternoon without am or pm may be either half."""
    found = [(reading, match.group().strip()) for match in _clock_times(text) if (reading := _minutes(match))]
    named = [word for word in re.findall(r"\b[a-z]+\b", text.casefold()) if word in _NAMED_TIME]
    return found + [(frozenset({_NAMED_TIME[word]}), word) for word in named]


def without_dates(text: str) -> str:
    """``text`` with dates and times blanked out, offsets unchanged."""
    spans = [span for span, _ in _found(text)] + [match.span() for match in _clock_times(text)]
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _found(text: str) -> Iterator[tuple[tuple[int, int], Date]]:
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            date = _date(match)
            if date:
                taken.append((start, end))
                yield (start, end), date


def _date(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    name = (parts.get("n") or parts.get("k") or "").rstrip(".")
    if (parts.get("n") or parts.get("k")) and (name.casefold() not in _MONTHS or name in ("may", "march")):
        return None
    month = _MONTHS[name.casefold()] if name else int(parts.get("m") or 0)
    day, year = int(parts.get("d") or 0), int(parts.get("y") or 0)
    slashed = "/" in match.group()
    if slashed and month > 12:
        month, day = day, month
    return Date(year, month, day, match.group().strip(), swapped=slashed and day <= 12 and day != month)


def _clock_times(text: str) -> Iterator[re.Match[str]]:
    for match in _TIME.finditer(text):
        if match["sep"] == ":" or match["half"] or match["clock"]:
            yield match


def _minutes(match: re.Match[str]) -> frozenset[int]:
    hour, minute = int(match["h"]), int(match["m"] or 0)
    if half := match["half"]:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
        return frozenset({hour * 60 + minute})
    both = {hour * 60 + minute}
    if 1 <= hour <= 12 and not match["h"].startswith("0"):
        both.add((hour % 12 + 12) * 60 + minute)
    return frozenset(both)
