"""Numbers and names as people read them: percentages, intervals, differences, milliseconds, dates."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from services.shared.contracts.evaluation import Estimate
from services.shared.evaluation.names import METRICS

SCORE = "score"
RIGHT = "right"
NDCG = "ndcg@10"
RECALL = "recall@10"

_PLAIN = frozenset({NDCG, "ndcg@5", "mrr"})
"""Metrics from 0 to 1 that are not a share of anything, so that a percentage would mislead."""
_GAP = "\u00a0"
"""Keeps a number and its unit on one line."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Controls that a page shows as nothing, or by which text reads in another order than it stands."""
_LISTED_MOST = 6


def label(metric: str) -> str:
    """The metric in words; its own name where the table does not know it."""
    known = METRICS.get(metric)
    return known.words if known is not None else metric


def brief(metric: str) -> str:
    """The label without its explanation, for a column or an axis."""
    return label(metric).split(":", 1)[0]


def kind(name: str) -> str:
    """A row's name without underscores: ``factual_recall`` is read as ``factual recall``."""
    return one_line(name.replace("_", " "))


def one_line(text: str) -> str:
    """Line breaks, tabs and control characters become one space each run; what turns the direction is left out."""
    return re.sub(" +", " ", _UNSEEN.sub("", _CONTROL.sub(" ", text))).strip(" ")


def visible(text: str) -> str:
    """Without control characters but line breaks and tabs, and without those that turn the direction of text."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n"))


def is_share(metric: str) -> bool:
    """Whether a percentage says it: known, from 0 to 1, and a share of something."""
    return metric in METRICS and metric != SCORE and metric not in _PLAIN


def bounds(metric: str) -> tuple[float, float]:
    """Least and greatest value that the metric can take."""
    known = METRICS.get(metric)
    return (known.low, known.high) if known is not None else (0.0, 1.0)


def gain(metric: str, after_minus_before: float) -> float:
    """The difference, above zero where it is for the better."""
    known = METRICS.get(metric)
    return -after_minus_before if known is not None and not known.higher_is_better else after_minus_before


def value(metric: str, number: float) -> str:
    """``86 %`` for a share, ``+0.71`` for the score, ``0.812`` for the rest; a dash for no number."""
    if not math.isfinite(number):
        return "–"
    if is_share(metric):
        return f"{_digits(number * 100, 1).removesuffix('.0')}{_GAP}%"
    if metric == SCORE:
        return _signed(number, 2)
    return _digits(number, 3)


def interval(metric: str, estimate: Estimate) -> str:
    """``78 to 92 %``."""
    low, high = value(metric, estimate.low), value(metric, estimate.high)
    return f"{low.removesuffix(f'{_GAP}%')} to {high}"


def difference(metric: str, number: float) -> str:
    """With its sign; that of a share in percentage points."""
    if not math.isfinite(number):
        return "–"
    if is_share(metric):
        return f"{_signed(number * 100, 1)}{_GAP}points"
    return _signed(number, 2 if metric == SCORE else 3)


def difference_interval(metric: str, estimate: Estimate) -> str:
    """``−0.4 to +5.8``, in the unit of ``difference``."""
    ends = (difference(metric, estimate.low), difference(metric, estimate.high))
    return " to ".join(end.removesuffix(f"{_GAP}points") for end in ends)


def move(metric: str, before: float, after: float) -> str:
    """``78 % → 92 %``."""
    return f"{value(metric, before)}{_GAP}→{_GAP}{value(metric, after)}"


def excludes_zero(estimate: Estimate) -> bool:
    """The whole interval lies on one side of zero."""
    return estimate.low > 0 or estimate.high < 0


def percent(share: float, digits: int = 1) -> str:
    """``95 %``, ``99.4 %``."""
    return f"{_digits(share * 100, digits).rstrip('0').rstrip('.')}{_GAP}%" if math.isfinite(share) else "–"


def milliseconds(number: float) -> str:
    """``0.4 ms``, ``38 ms``, ``1.24 s``."""
    if not math.isfinite(number):
        return "–"
    if number < 10:
        return f"{number:.1f}{_GAP}ms"
    return f"{number:.0f}{_GAP}ms" if number < 1000 else f"{number / 1000:.2f}{_GAP}s"


def plain(number: float, digits: int = 3) -> str:
    """Digits with a true minus sign."""
    return _digits(number, digits) if math.isfinite(number) else "–"


def date(moment: datetime) -> str:
    """``3 March 2026, 14:05 UTC``; a moment without zone is taken for UTC."""
    there = moment.astimezone(UTC) if moment.tzinfo else moment
    return f"{there.day} {there:%B %Y, %H:%M} UTC"


def counted(n: int, one: str, many: str | None = None) -> str:
    """``1 question``, ``80 questions``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}".replace(",", "\u202f")


def together(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def setting(held: Any) -> str:
    """A setting of any shape on one line; nested ones as ``name: value``."""
    if held is None:
        return "none"
    if isinstance(held, bool):
        return "yes" if held else "no"
    if isinstance(held, Mapping):
        return ", ".join(f"{key}: {setting(inner)}" for key, inner in held.items()) or "none"
    if isinstance(held, list | tuple):
        listed = [setting(inner) for inner in held[:_LISTED_MOST]]
        more = [f"and {len(held) - _LISTED_MOST} more"] if len(held) > _LISTED_MOST else []
        return ", ".join(listed + more) or "none"
    return one_line(str(held))


def _digits(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def _signed(number: float, digits: int) -> str:
    text = _digits(number, digits)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"
