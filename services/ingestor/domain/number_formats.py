"""Numbers and dates of a sheet as a person sees them there: 15.3 %, 1,250.00 €, 2024-03-01."""

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

GENERAL = "General"

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    37: "#,##0 ;(#,##0)", 38: "#,##0 ;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
}  # fmt: skip
"""Formats that a workbook names by number only (ECMA-376, part 1, 18.8.30); those of dates are not needed here."""

LONGEST_FORMAT = 200

_TOKEN = re.compile(
    r"\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]"
    r"|_.|\*.|(?P<digits>[#0?](?:[#0?,]*[#0?])?(?:\.[#0?]+)?)(?P<thousandths>,*)|(?P<percent>%)|(?P<other>.)",
    re.DOTALL,
)
_LITERAL = frozenset(" $€£¥₹+-()'’/:")
_CONDITION = re.compile(r"[<>=]")


class _Section(NamedTuple):
    before: str
    after: str
    decimals: int
    wanted: int
    least: int
    """Digits before the point."""
    grouped: bool
    power: int


def shown_number(value: float, code: str) -> str:
    """The number in its format; formats that are no plain ones (fractions, conditions) show it as it is."""
    if not abs(value) < 1e15:
        return plain_number(value)
    sections = _sections(code)
    if not sections:
        return plain_number(value)
    n = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    section = sections[n]
    if section is None:
        return plain_number(value)
    amount = Decimal(repr(abs(value) if n == 1 else value)).scaleb(section.power)
    rounded = amount.quantize(Decimal(1).scaleb(-section.decimals), ROUND_HALF_UP)
    digits = format(abs(rounded), ",f" if section.grouped else "f")
    if not section.grouped:
        point = section.decimals + (1 if section.decimals else 0)
        digits = digits.zfill(section.least + point)
    if section.decimals > section.wanted:
        whole, _, part = digits.partition(".")
        part = part[: section.wanted] + part[section.wanted :].rstrip("0")
        digits = f"{whole}.{part}" if part else whole
    sign = "-" if rounded < 0 else ""
    return f"{sign}{section.before}{digits}{section.after}".strip()


def plain_number(value: float) -> str:
    """The number without a format: whole ones without a point, others as far as a sheet computes."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.15g}"


def shown_date(value: datetime.date | datetime.time | datetime.timedelta) -> str:
    """ISO dates, times without seconds where there are none, durations in hours."""
    if isinstance(value, datetime.timedelta):
        minutes, seconds = divmod(round(abs(value.total_seconds())), 60)
        sign = "-" if value.total_seconds() < 0 else ""
        return f"{sign}{minutes // 60}:{minutes % 60:02d}" + (f":{seconds:02d}" if seconds else "")
    if isinstance(value, datetime.datetime):
        return shown_date(value.date()) if value.time() == datetime.time() else f"{value.date()} {_time(value.time())}"
    return value.isoformat() if isinstance(value, datetime.date) else _time(value)


def _time(value: datetime.time) -> str:
    return value.strftime("%H:%M:%S" if value.second else "%H:%M")


@lru_cache(maxsize=1000)
def _sections(code: str) -> list[_Section | None]:
    """What the format does with positive numbers, negative ones and zero; None where it is no plain one."""
    if code == GENERAL or len(code) > LONGEST_FORMAT:
        return []
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token["other"] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return [_section(part) for part in parts]


def _section(tokens: list[re.Match[str]]) -> _Section | None:
    texts, digits, power = ["", ""], None, 0
    for token in tokens:
        if token["digits"]:
            if digits is not None:
                return None
            digits = token["digits"]
            power -= 3 * len(token["thousandths"])
        elif token["percent"]:
            power += 2
            texts[digits is not None] += "%"
        elif token["other"]:
            if token["other"] not in _LITERAL or (token["other"] == "/" and digits is not None):
                return None
            texts[digits is not None] += token["other"]
        elif token["bracket"] is not None:
            if _CONDITION.search(token["bracket"]):
                return None
        else:
            texts[digits is not None] += token["quoted"] or token["escaped"] or token["currency"] or ""
    if digits is None:
        return None
    whole, _, part = digits.partition(".")
    return _Section(texts[0], texts[1], len(part), part.count("0"), whole.count("0"), "," in digits, power)
