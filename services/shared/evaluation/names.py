"""Every metric in one table: its name, what it says to people, its bounds, and whether the veto looks at it."""

from dataclasses import dataclass

from services.shared.contracts.evaluation import Subject

SEARCH_TIME = "search.client"
"""The stage in ``Outcome.timings_ms`` that holds a whole search as the client waits for it."""


@dataclass(frozen=True)
class Metric:
    """One number per question, from ``low`` to ``high``.

    The veto looks at few metrics: each one more makes every interval wider, and those left out say what a
    neighbour says already (``right`` is ``score`` without its sign, ``mrr`` is near ``ndcg@10``).
    """

    name: str
    words: str
    subject: Subject
    veto: bool = False
    higher_is_better: bool = True
    low: float = 0.0
    high: float = 1.0
    always: bool = False
    """Has sense for a question whatever the system does; others are absent, say, where nothing was answered."""

    @property
    def worst(self) -> float:
        """What a question counts that came to nothing."""
        return self.low if self.higher_is_better else self.high

    def gain(self, before: float, after: float) -> float:
        """How much better ``after`` is; below zero when it is worse."""
        return after - before if self.higher_is_better else before - after


_TABLE = (
    Metric("score", "Score: right +1, silent 0, wrong −1", Subject.ANSWERS, veto=True, low=-1.0, always=True),
    Metric("right", "Right answers and right abstentions", Subject.ANSWERS, always=True),
    Metric("accuracy", "Expected facts in the answer", Subject.ANSWERS),
    Metric("citation_precision", "Citations that point at a gold passage", Subject.ANSWERS, veto=True),
    Metric("citation_recall", "Gold passages that are cited", Subject.ANSWERS, veto=True),
    Metric("supported", "Claims supported by their passages", Subject.ANSWERS, veto=True),
    Metric("checks", "Hard-coded checks passed", Subject.ANSWERS, veto=True, always=True),
    Metric("validity", "Valid in tone and persona", Subject.ANSWERS, veto=True),
    Metric("ndcg@10", "nDCG@10", Subject.RETRIEVAL, veto=True, always=True),
    Metric("recall@5", "Gold passages among the first 5", Subject.RETRIEVAL, veto=True, always=True),
    Metric("recall@10", "Gold passages among the first 10", Subject.RETRIEVAL, always=True),
    Metric("recall@100", "Gold passages among the first 100", Subject.RETRIEVAL, always=True),
    Metric("mrr", "Reciprocal rank of the first gold passage", Subject.RETRIEVAL, always=True),
    Metric("gate_right", "Gate verdicts that fit", Subject.RETRIEVAL, always=True),
    Metric("gate_passes", "Answerable questions that the gate lets through", Subject.RETRIEVAL, veto=True, always=True),
    Metric("gate_stops", "Unanswerable questions that the gate stops", Subject.RETRIEVAL, veto=True, always=True),
    Metric("errors", "Questions that could not be asked", Subject.ALL, higher_is_better=False),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _TABLE}
"""By name, in the order in which they are shown."""
