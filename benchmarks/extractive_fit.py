"""Fits and measures the extractive writer on SQuAD 2.0: `python -m benchmarks.extractive_fit DATA_FOLDER`.

DATA_FOLDER holds corpus.jsonl and queries.jsonl (squad2-dev9). Every question gets the five nearest paragraphs as its
passages; where none is near enough (the gate's limit) it counts as abstained. Its unanswerable questions were written
by people so that a paragraph looks as if it answered them.

Each article's figures come from weights that were fitted on the other eight. The score is that of 150 answerable and
150 unanswerable questions: +1 for a right answer (a gold string is in the text) or a right abstention, 0 for an
abstention on an answerable question, -1 for anything else, over 300; abstaining always is +0.50. Printed are several
ways to tell an answer from a near miss, what each confidence trades, and the constants that ship, which are fitted
on all nine articles.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.squad_passages import Trial, trials
from services.generator.domain import extractive
from services.generator.domain.extractive import Order, Part, Trust, Weights
from services.generator.domain.signals import Doubt, Fit, broken_name, doubt, fit

GATE = 0.55
"""The retriever's own limit: no passage nearer than this cosine distance, no answer."""
SIDE = 150
"""Questions of each kind that the score is told for."""
TOLD = (0.0, 0.05, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
"""Thresholds whose figures are printed."""
RIDGE = 0.001
"""Holds the order's weights small; ten times as much is worse on the articles left out."""
Rows = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """Of every question: may it be answered, was the text right, how sure was the writer."""

    answerable: Flags
    right: Flags
    confidence: Rows

    def at(self, threshold: float) -> dict[str, float]:
        """Figures of answering from this confidence on, for SIDE questions of each kind."""
        told = self.confidence >= threshold
        right = SIDE * float((told & self.right & self.answerable).sum() / self.answerable.sum())
        wrong = SIDE * float((told & ~self.right & self.answerable).sum() / self.answerable.sum())
        misled = SIDE * float((told & ~self.answerable).sum() / (~self.answerable).sum())
        answered = right + wrong + misled
        return {
            "coverage": (right + wrong) / SIDE,
            "abstained": 1 - misled / SIDE,
            "wrong": (wrong + misled) / answered if answered else 0.0,
            "score": (right - wrong - misled + SIDE - misled) / (2 * SIDE),
        }

    def best(self) -> tuple[float, dict[str, float]]:
        """The threshold of the highest score, and its figures."""
        thresholds = np.quantile(self.confidence, np.linspace(0.02, 0.995, 100))
        return max(((float(one), self.at(float(one))) for one in thresholds), key=lambda pair: pair[1]["score"])


@dataclass(frozen=True)
class Seen:
    """A question with the signals of its candidates, seen once for all fits."""

    trial: Trial
    lexical: bool
    fits: list[Fit]
    doubts: dict[int, Doubt]

    @classmethod
    def of(cls, trial: Trial, *, lexical: bool) -> "Seen":
        """Of a question with or without the retriever's scores."""
        pairs = zip(trial.found, trial.scores, strict=True)
        fits = [fit(trial.asked, trial.passages[one.passage], one, None if lexical else score) for one, score in pairs]
        return cls(trial, lexical, fits, {})

    def best(self, order: Order) -> int:
        """Which candidate suits best."""
        return max(range(len(self.fits)), key=lambda at: order.logit(self.fits[at]))

    def doubt(self, at: int) -> Doubt:
        """What speaks for and against this candidate."""
        if at not in self.doubts:
            one, score = self.trial.found[at], None if self.lexical else self.trial.scores[at]
            self.doubts[at] = doubt(self.trial.asked, self.trial.passages[one.passage], one, score)
        return self.doubts[at]

    def text(self, at: int) -> str:
        """What this candidate says."""
        one = self.trial.found[at]
        return self.trial.passages[one.passage].text[one.start : one.end]


def fitted_order(chosen: Sequence[Seen]) -> Order:
    """Which sentence of a question holds the answer, from the answerable questions.

    Each question's sentences compete with one another (a conditional logit), as they do in the writer; a line through
    the sentences of all questions would rather learn which questions are easy.
    """
    names = [name for name in ("similarity", "coverage", "hint") if not (chosen[0].lexical and name == "similarity")]
    known: list[tuple[Rows, Flags]] = []
    for one in chosen:
        held = np.array([one.trial.holds(one.text(at)) for at in range(len(one.fits))], dtype=bool)
        if one.trial.answers and held.any() and not held.all():
            known.append((np.array([[getattr(seen, name) for name in names] for seen in one.fits]), held))
    found: Any = minimize(_missed, np.zeros(len(names)), args=(known,), jac=True, method="L-BFGS-B")
    weights = dict(zip(names, found.x, strict=True))
    return Order(**{name: round(float(weights.get(name, 0.0)), 2) for name in ("similarity", "coverage", "hint")})


def _missed(weights: Rows, known: Sequence[tuple[Rows, Flags]]) -> tuple[float, Rows]:
    """How unlikely these weights make the right sentences, and in which direction that grows."""
    loss, slope = 0.0, np.zeros(len(weights))
    for rows, held in known:
        logits = rows @ weights
        shares = np.exp(logits - logits.max())
        loss += float(np.log(shares.sum()) - np.log(shares[held].sum()))
        slope += shares @ rows / shares.sum() - shares[held] @ rows[held] / shares[held].sum()
    return loss / len(known) + RIDGE * float(weights @ weights), slope / len(known) + 2 * RIDGE * weights


def best_ones(everything: Sequence[Seen], order: Order) -> tuple[Rows, Flags]:
    """The signals of every question's best candidate, and whether it holds the answer."""
    best = [one.best(order) for one in everything]
    rows = np.array([astuple(one.doubt(at)) for one, at in zip(everything, best, strict=True)])
    return rows, np.array([one.trial.holds(one.text(at)) for one, at in zip(everything, best, strict=True)])


def fitted_trust(rows: Rows, answered: Flags) -> Trust:
    """The probability that the best candidate is right; the weights keep the signs that ``Trust`` promises."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000)).fit(rows, answered)
    scaler, line = model[0], model[1]
    weights = line.coef_[0] / scaler.scale_
    bias = float(line.intercept_[0] - (weights * scaler.mean_).sum())
    names = [one.name for one in fields(Doubt)]
    return Trust(bias=round(bias, 2), **{n: round(float(w), 2) for n, w in zip(names, weights, strict=True)})


def written(seen: Seen, weights: Weights) -> tuple[str, float]:
    """What the writer says when it must, and its confidence; 0 where the gate is closed."""
    one = seen.trial
    part = Part(one.asked, None if seen.lexical else one.scores)
    choice = extractive.choose([part], one.passages, one.found, threshold=0.0, scored=weights, lexical=weights)
    return " ".join(said.text for said in choice.sentences), choice.confidence if one.distance <= GATE else 0.0


def crossed(everything: Sequence[Seen]) -> tuple[Outcome, dict[str, Outcome]]:
    """The writer's outcome by weights of the other articles, and the other ways' on the same texts."""
    answerable = np.array([bool(one.trial.answers) for one in everything])
    right = np.zeros(len(everything), dtype=bool)
    confidence = {name: np.zeros(len(everything)) for name in ("writer", *WAYS)}
    articles = np.array([one.trial.article for one in everything])
    closed = np.array(
        [one.trial.distance > GATE or broken_name(one.trial.asked, one.trial.passages) for one in everything]
    )
    for article in sorted(set(articles)):
        inside, outside = np.where(articles == article)[0], np.where(articles != article)[0]
        order = fitted_order([everything[at] for at in outside])
        rows, answered = best_ones(everything, order)
        weights = Weights(order, fitted_trust(rows[outside], answered[outside]))
        for at in inside:
            text, confidence["writer"][at] = written(everything[at], weights)
            right[at] = everything[at].trial.holds(text)
        for name, way in WAYS.items():
            told = np.where(closed, 0.0, way(rows[outside], answered[outside], rows))
            confidence[name][inside] = told[inside]
    outcomes = {name: Outcome(answerable, right, values) for name, values in confidence.items()}
    return outcomes.pop("writer"), outcomes


def _column(rows: Rows, name: str) -> Rows:
    return rows[:, [one.name for one in fields(Doubt)].index(name)]


def _similarity(known: Rows, answered: Flags, rows: Rows) -> Rows:
    return _column(rows, "similarity")


def _rule(known: Rows, answered: Flags, rows: Rows) -> Rows:
    """Similarity, where every word of the question is held and nothing contradicts; else nothing."""
    faults = sum(_column(rows, name) for name in ("name_missing", "number_missing", "denied_otherwise", "opposite"))
    return np.where((_column(rows, "plain_words") >= 0.8) & (faults == 0), _column(rows, "similarity"), 0.0)


def _trees(known: Rows, answered: Flags, rows: Rows) -> Rows:
    model = HistGradientBoostingClassifier(
        max_iter=120, learning_rate=0.04, max_leaf_nodes=6, min_samples_leaf=25, random_state=0
    )
    probabilities: Any = model.fit(known, answered).predict_proba(rows)
    return np.asarray(probabilities[:, 1], dtype=np.float64)


WAYS: dict[str, Callable[[Rows, Flags, Rows], Rows]] = {
    "similarity alone": _similarity,
    "every word held, no fault, then similarity": _rule,
    "boosted trees on the same signals": _trees,
}


def show(name: str, outcome: Outcome) -> None:
    """One line of the table: the order of the questions, and the best score."""
    threshold, best = outcome.best()
    auc = roc_auc_score(outcome.answerable, outcome.confidence)
    figures = ", ".join(f"{key} {value:.3f}" for key, value in best.items())
    print(f"{name}: AUC {auc:.3f}; best at {threshold:.2f}: {figures}")


def main() -> None:
    """Print the ways, the trade, each article, and the constants."""
    material = trials(Path(sys.argv[1]))
    for lexical in (False, True):
        everything = [Seen.of(one, lexical=lexical) for one in material]
        title = "words alone" if lexical else "with scores"
        outcome, others = crossed(everything)
        show(f"{title}, the writer", outcome)
        for name, other in others.items():
            show(f"{title}, {name}", other)
        for threshold in TOLD:
            figures = "  ".join(f"{key} {value:+.3f}" for key, value in outcome.at(threshold).items())
            print(f"  from {threshold:.2f}: {figures}")
        for article in sorted({one.article for one in material}):
            inside = np.array([one.article == article for one in material])
            part = Outcome(outcome.answerable[inside], outcome.right[inside], outcome.confidence[inside])
            show(f"  {article}", part)
        order = fitted_order(everything)
        print(order, fitted_trust(*best_ones(everything, order)), flush=True)


if __name__ == "__main__":
    main()
