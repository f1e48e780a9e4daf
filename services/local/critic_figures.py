"""How well a critic does, as areas under the ROC curve, on questions that it has not seen."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.local.critic_material import PER_LIST, Asked, Shelf
from services.shared.models.critic.features import Compared
from services.shared.models.critic.training import Kind, Lesson

Values = NDArray[np.float64]

RRF_K = 60

OFF_TOPIC = ("ir/cranfield/queries.jsonl", "ir/medline/queries.jsonl", "grounded/climate-fever-a-pairs.jsonl")
"""Questions and claims that no paragraph answers; they are asked here and never trained on."""

OFF_TOPIC_QUESTIONS = 200
"""Of each of these at most."""


@dataclass(frozen=True)
class Scores:
    """Scores of some cases and which of them are positive, ready to be measured."""

    name: str
    values: Values
    positive: NDArray[np.bool_]

    def auc(self) -> float:
        """Chance that a positive case scores above a negative one; ties count half."""
        from scipy.stats import rankdata

        ranks = rankdata(self.values)
        yes = int(self.positive.sum())
        return float((ranks[self.positive].sum() - yes * (yes + 1) / 2) / (yes * (len(ranks) - yes)))


@dataclass(frozen=True)
class Exam:
    """What is asked of a critic: all questions of a collection, some with passages left out, and strangers."""

    lessons: list[Lesson]

    def relevance(self, judge: "Judge") -> Scores:
        """(a) Each candidate of each question, answerable or not: is it the passage that was meant?"""
        asked = self.of(Kind.ASKED, Kind.UNANSWERABLE)
        return Scores(
            "relevance of each passage",
            np.concatenate([np.asarray(judge(one.compared)) for one in asked]),
            np.array([relevant for one in asked for relevant in one.relevant]),
        )

    def top(self, judge: "Judge", order: "Judge", name: str) -> Scores:
        """(b) The first passage by an order, of answerable questions: is it the right one?"""
        asked = self.of(Kind.ASKED)
        values, right = [], []
        for one in asked:
            first = int(np.argmax(order(one.compared)))
            values.append(judge(one.compared)[first])
            right.append(one.relevant[first])
        return Scores(name, np.array(values), np.array(right))

    def answerable(self, score: Callable[[Compared], float], *against: Kind) -> Scores:
        """(c), (d) Answerable questions against others."""
        cases = self.of(Kind.ASKED, *against)
        return Scores(
            f"answerable against {' and '.join(against)}",
            np.array([score(one.compared) for one in cases]),
            np.array([one.kind is Kind.ASKED for one in cases]),
        )

    def of(self, *kinds: Kind) -> list[Lesson]:
        """The lessons of these kinds."""
        return [one for one in self.lessons if one.kind in kinds]


Judge = Callable[[Compared], Sequence[float] | Values]
"""Anything that gives each candidate a number that is higher for a more relevant one."""


def strangers(data: Path, shelf: Shelf, embed: Callable[[list[str]], NDArray[np.float32]]) -> list[Lesson]:
    """Off-topic questions asked of the collection."""
    found = []
    for file in OFF_TOPIC:
        if not (data / file).is_file():
            continue
        texts = list(dict.fromkeys(_texts(data / file)))[:OFF_TOPIC_QUESTIONS]
        for text, vector in zip(texts, embed(texts), strict=True):
            lesson = shelf.lesson(Kind.FOREIGN, Asked(text, frozenset(), False, file), vector)
            if lesson is not None:
                found.append(lesson)
    return found


def by_vectors(compared: Compared) -> Values:
    """The order of the vector list."""
    return np.zeros(len(compared.matches)) if compared.similarities is None else compared.similarities


def by_words(compared: Compared) -> Values:
    """The order of the BM25 list."""
    return compared.scores


def by_fusion(compared: Compared) -> Values:
    """Reciprocal rank fusion of the first of both lists."""
    fused = np.zeros(len(compared.matches))
    for values in (by_vectors(compared), compared.scores):
        order = np.argsort(-values, kind="stable")[:PER_LIST]
        for rank, place in enumerate(order, start=1):
            if values[place] > 0:
                fused[place] += 1 / (RRF_K + rank)
    return fused


def _texts(file: Path) -> Iterable[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row.get("text") or row["claim"]
