"""Did a change make it worse? Two evaluations, paired question by question, with a veto."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.shared.contracts.evaluation import Change, Comparison, Evaluation, Outcome, QuestionChange
from services.shared.contracts.golden import Question
from services.shared.evaluation.names import METRICS, Metric
from services.shared.evaluation.statistics import LEVEL, difference
from services.shared.evaluation.variants import FULL

_DIGITS = 9
"""Values that differ less are equal."""


@dataclass(frozen=True)
class _Pair:
    question: Question
    before: Outcome
    after: Outcome

    def values(self, metric: Metric) -> tuple[float, float] | None:
        """The metric in both runs. A question that failed in one run only counts there with the worst value.

        So an error is never better than a bad answer; and it counts in either run, or else errors that come and
        go would look like a loss.
        """
        before, after = self.before.values.get(metric.name), self.after.values.get(metric.name)
        if before is None and after is not None and self.before.error is not None:
            before = metric.worst
        if after is None and before is not None and self.after.error is not None:
            after = metric.worst
        return None if before is None or after is None else (before, after)


def compare(before: Evaluation, after: Evaluation, seed: int) -> Comparison:
    """What changed from ``before`` to ``after``, over the questions that both asked (same id, same text).

    Vetoed when a metric that the veto looks at got worse beyond its paired interval. Each interval is at
    1 - 0.05 / (number of such metrics), so that runs which differ by chance only are vetoed at most once in twenty
    over all metrics together (Bonferroni). Metrics without a pair, such as those of a half that was not asked, do
    not count.
    """
    earlier, later = _asked(before), _asked(after)
    pairs = [_Pair(later[key][0], earlier[key][1], later[key][1]) for key in later if key in earlier]
    values = {name: _values(pairs, metric) for name, metric in METRICS.items()}
    judged = [name for name, metric in METRICS.items() if metric.veto and values[name]]
    level = 1 - (1 - LEVEL) / max(1, len(judged))
    changes = [_change(METRICS[name], values[name], seed, level) for name in judged]
    return Comparison(
        before_id=before.id,
        after_id=after.id,
        paired=len(pairs),
        only_before=len(earlier.keys() - later.keys()),
        only_after=len(later.keys() - earlier.keys()),
        changes=changes,
        questions=_question_changes(pairs),
        vetoed=any(change.worse for change in changes),
        level=level,
    )


def _asked(evaluation: Evaluation) -> dict[tuple[str, str], tuple[Question, Outcome]]:
    """The questions that have an outcome with nothing switched off, by id and text."""
    outcomes = {outcome.question_id: outcome for outcome in evaluation.outcomes if outcome.variant == FULL.name}
    return {
        (question.id, question.text): (question, outcomes[question.id])
        for question in evaluation.questions
        if question.id in outcomes
    }


def _values(pairs: list[_Pair], metric: Metric) -> list[tuple[float, float]]:
    return [both for pair in pairs if (both := pair.values(metric)) is not None]


def _change(metric: Metric, values: list[tuple[float, float]], seed: int, level: float) -> Change:
    before, after = [old for old, _ in values], [new for _, new in values]
    found = difference(before, after, seed, level)
    rises, falls = found.low > 0, found.high < 0
    return Change(
        metric=metric.name,
        before=sum(before) / len(before),
        after=sum(after) / len(after),
        difference=found,
        worse=falls if metric.higher_is_better else rises,
        better=rises if metric.higher_is_better else falls,
    )


def _question_changes(pairs: list[_Pair]) -> list[QuestionChange]:
    """Questions of which any metric changed, the greatest loss first."""
    changed = []
    for pair in pairs:
        metrics = {
            name: both
            for name, metric in METRICS.items()
            if (both := pair.values(metric)) is not None and round(both[1] - both[0], _DIGITS)
        }
        if metrics:
            changed.append((_gain(metrics), pair, metrics))
    changed.sort(key=lambda one: (one[0], one[1].question.id))
    return [
        QuestionChange(
            question_id=pair.question.id,
            text=pair.question.text,
            better=gain > (0.0, 0.0),
            metrics=metrics,
            before=_said(pair.before),
            after=_said(pair.after),
        )
        for gain, pair, metrics in changed
    ]


def _gain(metrics: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """What a question gained in the metrics of the veto, and, where that is nothing, in all of them.

    The others say much the same several times, and would drown a lost answer in a better ranking.
    """
    gains = {name: METRICS[name].gain(*both) for name, both in metrics.items()}
    decisive = sum(gain for name, gain in gains.items() if METRICS[name].veto)
    return round(decisive, _DIGITS), round(sum(gains.values()), _DIGITS)


def _said(outcome: Outcome) -> str | None:
    """The answer, marked where it is none; None when nothing was asked to answer."""
    if outcome.error is not None:
        return f"(error) {outcome.error}"
    if outcome.status is None or outcome.status == "answered":
        return outcome.text
    return f"({outcome.status}) {outcome.text or ''}".strip()
