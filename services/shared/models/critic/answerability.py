"""What the candidates of a question say together: do they answer it? Features by name, each a plain number.

They are what a calibration weighs anew for an index. All but the similarities are shares, ratios or odds; the
range of the similarities is the embedder's.
"""

from collections.abc import Sequence

import numpy as np

from services.shared.models.critic.features import Compared, Rows
from services.shared.models.critic.matching import WINDOWS

UNKNOWN_SIMILARITY = 0.45
"""Where no vectors were searched: neither for nor against."""

ODDS_AT_MOST = 7.0
"""Log odds beyond this are cut: what is as good as certain is no surer for being more so."""

NAMES = (
    "similarity_best", "similarity_lead", "bm25_lead", "window20_chosen", "share_best", "nearness_chosen",
    "saturated_chosen", "missing_chosen", "elsewhere", "unknown", "exact_missing", "exact_nowhere", "relevant_odds",
    "relevant_lead", "relevant_sum",
)  # fmt: skip
"""Every feature's name. Few, so that a calibration on some hundred questions can weigh them."""


def answerability(compared: Compared, relevant: Sequence[float] | Rows) -> dict[str, float]:
    """The features, from the candidates and the critic's probability for each; empty without a candidate."""
    if not compared.matches:
        return {}
    chances = np.clip(np.asarray(relevant, dtype=np.float64), 1e-9, 1 - 1e-9)
    return _by_lists(compared) | _by_words(compared, int(chances.argmax())) | _by_critic(chances)


def _by_lists(compared: Compared) -> dict[str, float]:
    near, scores = compared.similarities, compared.scores
    best = UNKNOWN_SIMILARITY if near is None else float(near.max())
    return {
        "similarity_best": best,
        "similarity_lead": 0.0 if near is None else best - _second(near),
        "bm25_lead": 1 - _second(scores) / float(scores.max()) if scores.max() > 0 else 0.0,
    }


def _by_words(compared: Compared, chosen: int) -> dict[str, float]:
    question, matches = compared.question, compared.matches
    best = matches[chosen]
    everywhere = frozenset().union(*(one.held for one in matches))
    return {
        "window20_chosen": best.windows[WINDOWS.index(20)],
        "share_best": max(one.share for one in matches),
        "nearness_chosen": best.nearness,
        "saturated_chosen": best.saturated,
        "missing_chosen": best.missing,
        "elsewhere": question.weigh(frozenset(question.weights) - everywhere - question.unknown),
        "unknown": question.weigh(question.unknown),
        "exact_missing": question.weigh(question.exact - best.held),
        "exact_nowhere": question.weigh(question.exact - everywhere),
    }


def _by_critic(chances: Rows) -> dict[str, float]:
    odds = np.clip(np.log(chances / (1 - chances)), -ODDS_AT_MOST, ODDS_AT_MOST)
    return {
        "relevant_odds": float(odds.max()),
        "relevant_lead": float(odds.max()) - _second(odds) if len(odds) > 1 else 0.0,
        "relevant_sum": float(chances.sum()),
    }


def _second(values: Rows) -> float:
    """The second highest; of a single value 0."""
    return float(np.sort(values)[-2]) if len(values) > 1 else 0.0
