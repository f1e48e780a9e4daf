"""A question and its candidates as rows of numbers, one row for each candidate.

Every number says how a passage stands among the candidates, or is a share: nothing depends on how large the index
is, on the unit of the BM25 scores, or on the range in which an embedder's similarities lie. So one set of weights
serves every index. The order of the candidates does not matter.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.shared.models.critic.matching import WINDOWS, Match, Question, match

Rows = NDArray[np.float64]

SIGNALS = (
    "share", "count", "saturated", *(f"window{length}" for length in WINDOWS), "together", "nearness", "rarest",
    "missing", "length",
)  # fmt: skip
"""Of each passage by itself; each becomes its value, its gap to the best other and its standing."""

SCORES = ("similarity", "bm25")
"""Of each passage by its lists; each becomes a ratio or standing, a gap and a share by rank."""

FEATURES = (
    *(f"{name}{kind}" for name in SIGNALS for kind in ("", "_gap", "_standing")),
    *(f"{name}{kind}" for name in SCORES for kind in ("_standing", "_gap", "_share", "_rank")),
    "bm25_ratio", "window20_share", "blend_share", "own_words", "only_words", "all_words", "candidates", "terms",
    "agreement", "ratio_x_window", "standing_x_window",
)  # fmt: skip
"""Names of the columns of ``rows``."""

LEAST_SPREAD = 1e-9
"""Values that differ by less are the same, however the machine rounded them."""


@dataclass(frozen=True)
class Candidate:
    """A passage to be judged: the analyser's tokens of what was indexed of it, in their order, and its two values.

    ``similarity`` is its cosine similarity to the question (1 - distance), None where the vectors did not find it;
    ``bm25`` its score, None where the words did not.
    """

    tokens: Sequence[str]
    similarity: float | None
    bm25: float | None


@dataclass(frozen=True)
class Compared:
    """The candidates of one question beside each other, in the order in which they were given."""

    question: Question
    matches: tuple[Match, ...]
    similarities: Rows | None
    """One that is not known counts as the lowest that is; None where none is known."""
    scores: Rows
    """BM25; one that is not known counts as 0."""
    lengths: Rows


def compare(question: Question, candidates: Sequence[Candidate]) -> Compared:
    """Match every candidate."""
    known = [one.similarity for one in candidates if one.similarity is not None]
    lowest = min(known, default=0.0)
    similarities = [lowest if one.similarity is None else one.similarity for one in candidates]
    return Compared(
        question=question,
        matches=tuple(match(question, one.tokens) for one in candidates),
        similarities=np.array(similarities, dtype=np.float64) if known else None,
        scores=np.array([one.bm25 or 0.0 for one in candidates], dtype=np.float64),
        lengths=np.log1p(np.array([len(one.tokens) for one in candidates], dtype=np.float64)),
    )


def rows(compared: Compared) -> Rows:
    """(candidates, FEATURES). No candidate, no row."""
    number = len(compared.matches)
    if not number:
        return np.empty((0, len(FEATURES)))
    signals = _signals(compared)
    gaps, standings = _gap(signals), _standing(signals)
    parts = [np.stack([signals, gaps, standings], axis=2).reshape(number, -1)]
    near = np.zeros(number) if compared.similarities is None else compared.similarities
    best = compared.scores.max()
    ratio = compared.scores / best if best > 0 else np.zeros(number)
    near_standing = _standing(near[:, None])[:, 0]
    bm25_standing = _standing(ratio[:, None])[:, 0]
    window = signals[:, SIGNALS.index("window20")]
    for standing, values, sharpness in ((near_standing, near_standing, 2.0), (bm25_standing, ratio, 10.0)):
        gap = _gap(values[:, None])[:, 0]
        parts.append(np.stack([standing, gap, _softmax(sharpness * values), _rank(values)], axis=1))
    own, only, everything = _words(compared)
    window_gap = gaps[:, SIGNALS.index("window40")]
    agreement = float(near.argmax() == ratio.argmax())
    parts.append(
        np.stack(
            [
                ratio,
                _softmax(10 * window),
                _softmax(near_standing + 8 * ratio + 3 * window),
                own,
                only,
                np.full(number, everything),
                np.full(number, np.log(number)),
                np.full(number, np.log1p(len(compared.question.weights))),
                np.full(number, agreement),
                ratio * window_gap,
                near_standing * window_gap,
            ],
            axis=1,
        )
    )
    return np.concatenate(parts, axis=1)


def _signals(compared: Compared) -> Rows:
    found = [
        (one.share, one.count, one.saturated, *one.windows, one.together, one.nearness, one.rarest, one.missing)
        for one in compared.matches
    ]
    return np.concatenate([np.array(found), compared.lengths[:, None]], axis=1)


def _words(compared: Compared) -> tuple[Rows, Rows, float]:
    """Of the question's weight: what a passage holds, shared with the others that hold it; what it alone holds;
    what any of them holds."""
    weights, total = compared.question.weights, compared.question.total
    holders = Counter(term for one in compared.matches for term in one.held)
    own = [sum(weights[term] / holders[term] for term in one.held) / total for one in compared.matches]
    only = [sum(weights[term] for term in one.held if holders[term] == 1) / total for one in compared.matches]
    return np.array(own), np.array(only), sum(weights[term] for term in holders) / total


def _gap(columns: Rows) -> Rows:
    """Each value less the best of the others in its column: above 0 for the best alone."""
    if len(columns) == 1:
        return np.zeros_like(columns)
    ordered = np.sort(columns, axis=0)
    best, second = ordered[-1], ordered[-2]
    return np.asarray(np.where(columns == best, best - second, columns - best))


def _standing(columns: Rows) -> Rows:
    """Each value less the mean of its column, in standard deviations."""
    spread = columns.std(axis=0)
    flat = spread < LEAST_SPREAD
    return np.asarray(np.where(flat, 0.0, (columns - columns.mean(axis=0)) / np.where(flat, 1.0, spread)))


def _softmax(values: Rows) -> Rows:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum())


def _rank(values: Rows) -> Rows:
    """1 for the best, 1/2 for the second and so on; those that tie share the better rank."""
    return np.asarray(1.0 / (1 + (values[None, :] > values[:, None]).sum(axis=1)))
