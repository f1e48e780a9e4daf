"""The wordings in which a right answer may give a number or a date."""

import re

_MONTHS = "January February March April May June July August September October November December"
MONTHS = _MONTHS.split()
_MONTH = "|".join(MONTHS)
DATE = (
    rf"(?:\d{{1,2}} (?:{_MONTH}) \d{{4}}|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?, \d{{4}}|(?:{_MONTH}),? \d{{4}}"
    r"|(?:19|20)\d\d(?![-\d,.]*\d))"
)
"""A day, a month of a year, or a year."""

_SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
NUMBER_WORDS = {**{word: n for n, word in enumerate(_SMALL.split())}, **_TENS}
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|" + "|".join(sorted(NUMBER_WORDS, key=len)[::-1]))

_TIME = re.compile(r"(?:second|minute|hour|day|week|month|year)s?")


def number_wordings(number: str, unit: str) -> list[str]:
    """``13 weeks``: also in words, with a hyphen, without commas.

    A number alone could count anything, so it stands with its unit wherever it has one.
    """
    forms = _number_forms(number)
    unit = " ".join(unit.split())
    wordings = [f"{form} {unit}".strip() for form in forms]
    if " " in unit:
        # "Nine teams" is as right as "nine consuming teams".
        wordings += [f"{form} {unit.split()[-1]}" for form in forms]
    if _TIME.fullmatch(unit):
        wordings += [f"{form}-{unit.removesuffix('s')}" for form in forms]
    return list(dict.fromkeys(wordings))


def date_wordings(date: str) -> list[str]:
    """A day in British, American and ISO form; a month also as ISO; a year as it is."""
    day = re.search(r"(?<!\d)(\d{1,2})(?!\d)", re.sub(r"\d{4}", "", date))
    month = re.search(_MONTH, date)
    year = re.search(r"\d{4}", date)
    if year is None or month is None:
        return [date]
    number = MONTHS.index(month[0]) + 1
    short = month[0][:3]
    if day is None:
        return list(dict.fromkeys([f"{month[0]} {year[0]}", f"{short} {year[0]}", f"{year[0]}-{number:02}", date]))
    d = int(day[1])
    forms = [f"{d} {name} {year[0]}" for name in (month[0], short)]
    forms += [f"{name} {d}, {year[0]}" for name in (month[0], short)]
    return list(dict.fromkeys([date, *forms, f"{year[0]}-{number:02}-{d:02}"]))


def _number_forms(number: str) -> list[str]:
    value = _value(number)
    forms = [number, number.replace(",", "")]
    if value is not None and value == int(value):
        forms.append(str(int(value)))
        forms += [word for word, n in NUMBER_WORDS.items() if n == value]
        if value >= 1000:
            forms.append(f"{int(value):,}")
    return list(dict.fromkeys(forms))


def _value(number: str) -> float | None:
    lower = number.lower()
    if lower in NUMBER_WORDS:
        return float(NUMBER_WORDS[lower])
    try:
        return float(number.replace(",", ""))
    except ValueError:
        return None
