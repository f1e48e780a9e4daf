"""Distances of different embedders on one scale.

What a cosine distance means is the embedder's own matter: all texts of multilingual-e5-small lie within a third of
what those of all-MiniLM-L6-v2 span. Gate, critic and the fusion of short lists are fitted to the latter.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """How an embedder's distances become those of all-MiniLM-L6-v2."""

    shift: float
    factor: float

    def common(self, distance: float) -> float:
        """The embedder's distance on the common scale, 0 to 2."""
        return min(max((distance - self.shift) * self.factor, 0.0), 2.0)

    def own(self, common: float) -> float:
        """The embedder's own distance for one of the common scale, 0 to 2."""
        return min(max(self.shift + common / self.factor, 0.0), 2.0)


COMMON = Scale(shift=0.0, factor=1.0)
"""Of all-MiniLM-L6-v2, and of every embedder that was not measured: calibration is what helps there."""

SCALES = {
    "all-mpnet-base-v2": COMMON,
    "multilingual-e5-small": Scale(shift=0.037, factor=4.34),
}
"""By the last part of the name. Measured on SQuAD 2.0 questions: ``benchmarks/embedder_scales.py``."""


def scale_of(embedder: str) -> Scale:
    """The scale of the embedder of this name, which may be a folder or a name for the model hub."""
    return SCALES.get(embedder.rstrip("/").rsplit("/", 1)[-1], COMMON)
