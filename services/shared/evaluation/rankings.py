"""Is what was found what should be found? Passages become gold items or others; ir_measures counts them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.shared.contracts.golden import Behaviour

_CUTOFFS = {"ndcg@10": 10, "recall@5": 5, "recall@10": 10, "recall@100": 100}
_DEEPEST = 100


@dataclass(frozen=True)
class Gold:
    """A stretch that should be found, in code points of the live text; without offsets the whole document.

    An empty stretch (``start == end``) stands for a quote that is nowhere: it is never found, and counts as missed.
    Golds of one ``group`` say the same, so that one of them is enough.
    """

    document_id: str
    start: int | None
    end: int | None
    grade: int = 1
    group: str | None = None

    def touched(self, document_id: str, start: int, end: int) -> bool:
        """Does a stretch of a document share anything with this one?"""
        if document_id != self.document_id:
            return False
        return self.start is None or self.end is None or max(start, self.start) < min(end, self.end)


@dataclass(frozen=True)
class Found:
    """A passage that was found, in code points of the live text."""

    document_id: str
    start: int
    end: int


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Where ``quote`` first stands in ``text``, whatever white space lies between its words; None if nowhere."""
    words = quote.split()
    if not words:
        return None
    match = re.search(r"\s+".join(re.escape(word) for word in words), text)
    return match.span() if match else None


def distinct(golds: Sequence[Gold]) -> dict[int, Gold]:
    """By place in ``golds``: each gold once, with the highest grade that it was given.

    Quotes that are nowhere stay apart: each of them is one more that is missed.
    """
    first: dict[tuple[str, int | None, int | None], int] = {}
    kept: dict[int, Gold] = {}
    for place, gold in enumerate(golds):
        nowhere = gold.start is not None and gold.start == gold.end
        earlier = place if nowhere else first.setdefault((gold.document_id, gold.start, gold.end), place)
        known = kept.get(earlier, gold)
        kept[earlier] = replace(known, grade=max(known.grade, gold.grade))
    return kept


def needs(golds: Mapping[int, Gold]) -> dict[int, int]:
    """By place of each gold, the place that stands for what it says: the first of its group, or its own."""
    first: dict[str, int] = {}
    return {
        place: place if gold.group is None else first.setdefault(gold.group, place) for place, gold in golds.items()
    }


def ranked_items(found: Sequence[Found], golds: Sequence[Gold]) -> list[str]:
    """The passages as items of a ranking, best first: ``gold:N`` (place by ``needs``) or ``other:N``.

    A gold stretch is found with the passage at which half of it has been read, counting earlier passages too, so
    that one which the chunks cut in two is not lost. It is one item, once; a later passage that repeats it is an
    other one. A passage that completes several golds becomes several items, the highest grade first, since their
    order inside a passage is nobody's choice.

    Where a document is gold as a whole, the ranking is one of documents: later passages of it, and of every
    document that no gold stretch lies in, are left out.
    """
    wanted = distinct(golds)
    need = needs(wanted)
    whole = {gold.document_id for gold in wanted.values() if gold.start is None}
    in_part = {gold.document_id for gold in wanted.values() if gold.start is not None}
    read: dict[int, set[int]] = {place: set() for place in wanted}
    seen: set[str] = set()
    items: list[str] = []
    others = 0
    for passage in found:
        completed = dict.fromkeys(need[place] for place in _completed(passage, wanted, read))
        folded = passage.document_id in whole or (bool(whole) and passage.document_id not in in_part)
        if completed:
            items += [f"gold:{place}" for place in completed]
        elif not (folded and passage.document_id in seen):
            items.append(f"other:{others}")
            others += 1
        seen.add(passage.document_id)
        read = {place: points for place, points in read.items() if need[place] not in completed}
    return items


def _completed(passage: Found, wanted: Mapping[int, Gold], read: dict[int, set[int]]) -> list[int]:
    """Adds what the passage holds to ``read`` (golds not found yet); those found with it, highest grade first."""
    completed = []
    for place, points in read.items():
        gold = wanted[place]
        if not gold.touched(passage.document_id, passage.start, passage.end):
            continue
        if gold.start is None or gold.end is None:
            completed.append(place)
            continue
        points.update(range(max(passage.start, gold.start), min(passage.end, gold.end)))
        if 2 * len(points) >= gold.end - gold.start:
            completed.append(place)
    return sorted(completed, key=lambda place: (-wanted[place].grade, place))


def retrieval_values(items: Sequence[str], golds: Sequence[Gold], *, depth: int = _DEEPEST) -> dict[str, float]:
    """``retrieval_values_of`` for one question."""
    return retrieval_values_of({"": items}, {"": golds}, depth=depth)[""]


def retrieval_values_of(
    rankings: Mapping[str, Sequence[str]], golds: Mapping[str, Sequence[Gold]], *, depth: int = _DEEPEST
) -> dict[str, dict[str, float]]:
    """nDCG, recall and reciprocal rank of each ranking made by ``ranked_items``, by ir_measures (trec_eval).

    All at once, since a call costs far more than a question. A question without golds has no values; one without a
    ranking found nothing. ``depth`` is how many passages were asked for: a metric that looks deeper has no sense.
    nDCG takes the grade as the gain and log2 of the rank as the discount (Järvelin and Kekäläinen 2002).
    """
    from ir_measures import pytrec_eval

    measures = {measure: name for name, measure in _measures().items() if _CUTOFFS.get(name, 0) <= depth}
    # Numbers as ids: what a question is called is nobody's business in the C library.
    names = {str(number): name for number, name in enumerate(golds) if golds[name]}
    qrels = {number: _wanted_grades(golds[name]) for number, name in names.items()}
    # trec_eval sorts by score and then by name: the scores fall strictly, so that the given order stays.
    run = {
        number: {item: float(-rank) for rank, item in enumerate(rankings.get(name, ()))}
        for number, name in names.items()
    }
    values: dict[str, dict[str, float]] = {name: {} for name in golds}
    if names:
        for one in pytrec_eval.iter_calc(list(measures), qrels, run):
            values[names[one.query_id]][measures[one.measure]] = float(one.value)
    return values


def _wanted_grades(golds: Sequence[Gold]) -> dict[str, int]:
    """What a perfect ranking holds: an item for each need, with the highest grade of those that meet it."""
    wanted = distinct(golds)
    need = needs(wanted)
    grades: dict[str, int] = {}
    for place, gold in wanted.items():
        item = f"gold:{need[place]}"
        grades[item] = max(gold.grade, grades.get(item, 0))
    return grades


def _measures() -> dict[str, Any]:
    from ir_measures import RR, R, nDCG

    return {"ndcg@10": nDCG @ 10, "recall@5": R @ 5, "recall@10": R @ 10, "recall@100": R @ 100, "mrr": RR}


def gate_right(behaviour: Behaviour, gate: str | None) -> float | None:
    """1.0 when the gate lets through what can be answered and stops what cannot; None where nothing is asked of it.

    What should be declined may well stand in the content, so either verdict is right there.
    """
    if gate is None or behaviour is Behaviour.DECLINE:
        return None
    return float((gate != "poor") == (behaviour is Behaviour.ANSWER))


def gate_values(behaviour: Behaviour, gate: str | None) -> dict[str, float]:
    """``gate_right``, and the same apart for what can be answered and what cannot: a gate that is off gains in the one
    what it loses in the other, and the sum would not tell."""
    right = gate_right(behaviour, gate)
    if right is None:
        return {}
    return {"gate_right": right, "gate_passes" if behaviour is Behaviour.ANSWER else "gate_stops": right}
