"""A claim beside its evidence as one row of numbers.

Two kinds of features. Those of likeness can only speak for support, those of fault only against it; the training
holds the weights to these signs, so that what is learnt from one kind of text does not turn against another.
"""

import numpy as np

from services.shared.models.grounding.reading import Flags, Read, Rows
from services.shared.models.grounding.wordlists import AMOUNTS, CAUTION, DOWNWARDS, OPPOSITES, UPWARDS

NEAR = 3
"""So many sentences of the evidence are looked at word by word: the likest to the claim."""

NEAR_COPY, HALF_COPY = 0.75, 0.6
"""Shares of the claim's weight that the likest sentence holds: nearly all of it, and most of it."""

FOREIGN = 0.75
"""A word whose nearest word of the evidence is less alike than this has no counterpart there."""

LIKENESS = (
    "similarity", "similarity_best", "similarity_near", "held", "held_best", "copied", "aligned", "aligned_best",
    "aligned_all", "aligned_least", "aligned_second", "aligned_quarter", "foreign_aligned", "foreign_least",
    "names_aligned", "same_direction",
)  # fmt: skip

FAULTS = (
    "number_missing", "numbers_missing", "number_clash", "number_x_copy", "names_missing", "name_clash",
    "names_x_copy", "denial", "denial_claim", "denial_evidence", "denial_count", "denial_x_like", "denial_x_copy",
    "denial_near_copy", "opposites", "opposite_best", "opposites_x_copy", "direction_clash", "direction_x_like",
    "direction_missing", "direction_x_denial", "amounts_missing", "caution_dropped", "foreign_share",
    "foreign_near_copy", "foreign_x_rest",
)  # fmt: skip

FEATURES = (*LIKENESS, *FAULTS)
"""The columns of ``row``."""


def row(claim: Read, evidence: Read) -> list[float]:
    """The values of ``FEATURES``."""
    near = evidence.sentence_vectors @ claim.vector
    order = np.argsort(-near, kind="stable")[:NEAR]
    with_words = [int(number) for number in order if (evidence.sentences == number).any()]
    close = evidence.part(sorted(with_words)) if len(near) > 1 and with_words else evidence
    best = evidence.part(with_words[:1]) if len(near) > 1 and with_words else evidence
    found = {
        "similarity": float(claim.vector @ evidence.vector),
        "similarity_best": float(near.max()),
        "similarity_near": float(near[order].mean()),
    }
    weight = np.where(claim.telling, claim.weights, 0.0)
    weight = weight / weight.sum() if weight.sum() > 0 else np.full(len(claim.words), 1 / len(claim.words))
    held = _held(claim, close)
    found |= {
        "held": float(weight @ held),
        "held_best": float(weight @ _held(claim, best)),
    }
    found["copied"] = float(found["held_best"] > 1 - 1e-6)
    found |= _aligned(claim, close, best, weight, held)
    found |= _facts(claim, close, best, found["held_best"])
    found |= _denials(claim, close, best, found)
    found |= _directions(claim, close, best, found)
    return [found[name] for name in FEATURES]


def _held(claim: Read, evidence: Read) -> Flags:
    """Which of the claim's words the evidence has, whatever their endings."""
    stems = set(evidence.stems)
    return np.array([stem in stems for stem in claim.stems])


def _aligned(claim: Read, close: Read, best: Read, weight: Rows, held: Flags) -> dict[str, float]:
    """How alike the nearest word of the evidence is to each word of the claim, in their contexts."""
    nearest = (claim.vectors @ close.vectors.T).max(axis=1)
    telling = np.sort(nearest[claim.telling] if claim.telling.any() else nearest)
    foreign = claim.telling & ~held
    alien = nearest[foreign]
    held_best = float(weight @ _held(claim, best))
    least = float(alien.min()) if len(alien) else 1.0
    return {
        "aligned": float(weight @ nearest),
        "aligned_best": float(weight @ (claim.vectors @ best.vectors.T).max(axis=1)),
        "aligned_all": float(nearest.mean()),
        "aligned_least": float(telling[0]),
        "aligned_second": float(telling[min(1, len(telling) - 1)]),
        "aligned_quarter": float(np.quantile(telling, 0.25)),
        "foreign_aligned": float(np.average(alien, weights=claim.weights[foreign])) if len(alien) else 1.0,
        "foreign_least": least,
        "names_aligned": float(nearest[claim.names].min()) if claim.names.any() else 1.0,
        "foreign_share": len(alien) / len(claim.words),
        "foreign_near_copy": (1 - held_best) * (held_best > NEAR_COPY) * (least < FOREIGN),
        "foreign_x_rest": (1 - least) * (1 - held_best),
    }


def _facts(claim: Read, close: Read, best: Read, copied: float) -> dict[str, float]:
    """Numbers and names of the claim that the evidence lacks; a clash where it has others in their place."""
    words, stems = set(close.words), set(close.stems)
    numbers = sum(word not in words for word, number in zip(claim.words, claim.numbers, strict=True) if number)
    names = min(3, sum(stem not in stems for stem, name in zip(claim.stems, claim.names, strict=True) if name))
    own = set(claim.stems)
    others = any(stem not in own for stem, name in zip(best.stems, best.names, strict=True) if name)
    return {
        "number_missing": float(numbers > 0),
        "numbers_missing": float(numbers),
        "number_clash": float(numbers > 0 and close.numbers.any()),
        "number_x_copy": (numbers > 0) * copied,
        "names_missing": float(names),
        "name_clash": float(names > 0 and others),
        "names_x_copy": names * copied,
    }


def _denials(claim: Read, close: Read, best: Read, found: dict[str, float]) -> dict[str, float]:
    denies, denied = bool(claim.denials.any()), bool(best.denials.any())
    differs = float(denies != denied)
    count = abs(int(claim.denials.sum()) - int(best.denials.sum()))
    shared = _held(best, claim)[best.telling]
    near_copy = found["held_best"] > HALF_COPY and len(shared) and shared.mean() > HALF_COPY
    return {
        "denial": differs,
        "denial_claim": float(denies and not close.denials.any()),
        "denial_evidence": float(denied and not denies),
        "denial_count": float(count),
        "denial_x_like": differs * found["similarity_best"],
        "denial_x_copy": differs * found["held_best"],
        "denial_near_copy": float(count if near_copy else 0),
    }


def _directions(claim: Read, close: Read, best: Read, found: dict[str, float]) -> dict[str, float]:
    """Opposites, and whether both say that something goes up, or down."""
    own, near, likest = set(claim.words), set(close.words), set(best.words)
    opposites = min(2, sum(bool(OPPOSITES[word] & near) for word in own - near if word in OPPOSITES))
    opposite_best = any(OPPOSITES[word] & likest for word in own - likest if word in OPPOSITES)
    up, other = _direction(own), _direction(likest)
    clash = float(up * other < 0)
    return {
        "opposites": float(opposites),
        "opposite_best": float(opposite_best),
        "opposites_x_copy": opposites * found["held_best"],
        "same_direction": float(up * other > 0),
        "direction_clash": clash,
        "direction_x_like": clash * found["similarity_best"],
        "direction_missing": float(up != 0 and other == 0),
        "direction_x_denial": clash * (1 - found["denial"]),
        "amounts_missing": float(len((own & AMOUNTS) - near)),
        "caution_dropped": float(bool(likest & CAUTION) and not own & CAUTION),
    }


def _direction(words: set[str]) -> int:
    """1 where more words go up than down, -1 where fewer do."""
    up, down = len(words & UPWARDS), len(words & DOWNWARDS)
    return (up > down) - (up < down)
