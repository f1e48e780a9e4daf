"""The ways to run retrieval: the whole, and a ladder on which each row adds one stage to the row before.

A new stage is taken in by adding one row.
"""

from services.shared.contracts.evaluation import Variant
from services.shared.contracts.search import Stages

FULL = Variant(name="full", stages=Stages())
"""As the system is set: nothing is switched."""

_BARE = Stages(vector=False, bm25=False, gate=False, critic=False, decompose=False, diversity=False, fusion="rrf")


def _only(**on: bool | str) -> Stages:
    return _BARE.model_copy(update=on)


LADDER = (
    Variant(name="vectors", stages=_only(vector=True)),
    Variant(name="BM25", stages=_only(bm25=True)),
    Variant(name="vectors + BM25 (RRF)", stages=_only(vector=True, bm25=True, fusion="rrf")),
    Variant(name="vectors + BM25 (scores)", stages=_only(vector=True, bm25=True, fusion="relative")),
    Variant(name="+ gate", stages=_only(vector=True, bm25=True, gate=True, fusion="relative")),
    Variant(name="+ critic", stages=_only(vector=True, bm25=True, gate=True, critic=True, fusion="relative")),
    Variant(
        name="+ diversity",
        stages=_only(vector=True, bm25=True, gate=True, critic=True, diversity=True, fusion="relative"),
    ),
    Variant(
        name="+ decomposition",
        stages=_only(vector=True, bm25=True, gate=True, critic=True, diversity=True, decompose=True, fusion="relative"),
    ),
)

VARIANTS = (*LADDER, FULL)
"""In the order of the ablation's rows."""
