"""Did a change make it worse? Two evaluations, paired question by question, with a veto."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.shared.contracts.evaluation import Change, Comparison, Evaluation, Outcome, QuestionChange
from services.shared.contracts.golden import Behaviour, Question, identity
from services.shared.evaluation.names import METRICS, Metric
from services.shared.evaluation.statistics import LEVEL, difference
from services.shared.evaluation.variants import FULL

LEAST_SHARE = 0.5
"""Of the questions of the run before that must be asked again before it can be said that nothing got worse."""
ANSWERED = "answered"
_DIGITS = 9
"""Values that differ less are equal."""


@dataclass(frozen=True)
class _Pair:
    question: Question
    before: Outcome
    after: Outcome

    def values(self, metric: Metric, *, told: bool) -> tuple[float, float] | None:
        """The metric in both runs. A question that failed in one run only counts there with the worst value.

        So an error is never better than a bad answer; and it counts in either run, or else errors that come and
        go would look like a loss. A metric that always has sense and is ``told`` of other questions is not lost
        for nothing: it has the worst value too.
        """
        before, after = self.before.values.get(metric.name), self.after.values.get(metric.name)
        if before is None and after is not None and self.before.error is not None:
            before = metric.worst
        if after is None and before is not None and (self.after.error is not None or (metric.always and told)):
            after = metric.worst
        return None if before is None or after is None else (before, after)

    @property
    def gave_in(self) -> bool:
        """Should be declined, was, and is answered now."""
        should = self.question.behaviour is Behaviour.DECLINE
        return should and self.before.status not in (None, ANSWERED) and self.after.status == ANSWERED


def compare(before: Evaluation, after: Evaluation, seed: int) -> Comparison:
    """What changed from ``before`` to ``after``, over the questions that both asked and of which both expect the same.

    Vetoed when a metric that the veto looks at got worse beyond its paired interval. Each interval is at
    1 - 0.05 / (number of such metrics), so that runs which differ by chance only are vetoed at most once in twenty
    over all metrics together (Bonferroni). Metrics without a pair, such as those of a half that was not asked, do
    not count. Vetoed too when a single question that should be declined was, and is answered now: that is no matter
    of chance. Where ``unjudged`` has a word to say, that nothing is vetoed means nothing.
    """
    earlier, later = _asked(before), _asked(after)
    pairs = [_Pair(later[key][0], earlier[key][1], later[key][1]) for key in later if key in earlier]
    told = {name for outcome in after.outcomes for name in outcome.values}
    values = {name: _values(pairs, metric, told) for name, metric in METRICS.items()}
    judged = [name for name, measured in values.items() if METRICS[name].veto and measured]
    gave_in = [pair.question.id for pair in pairs if pair.gave_in]
    level = 1 - (1 - LEVEL) / max(1, len(judged))
    changes = [_change(METRICS[name], values[name], seed, level) for name in judged]
    return Comparison(
        before_id=before.id,
        after_id=after.id,
        paired=len(pairs),
        only_before=len(earlier.keys() - later.keys()),
        only_after=len(later.keys() - earlier.keys()),
        changes=changes,
        questions=_question_changes(pairs, told),
        gave_in=gave_in,
        vetoed=bool(gave_in) or any(change.worse for change in changes),
        level=level,
    )


def unjudged(comparison: Comparison) -> str | None:
    """Why it cannot be said that nothing got worse, and what to do, without a final stop; None when it can.

    A veto that has nothing to look at must not pass for a good word: neither when no question or no metric of the
    veto is in both runs, nor when less than half of the earlier questions were asked again, for what got worse may
    be among the others.
    """
    there = comparison.paired + comparison.only_before
    if not comparison.paired:
        return (
            "the two runs have no question in common (same id, text and expectations), so nothing can be judged; "
            "compare with a run of the same questions"
        )
    if not comparison.changes:
        return (
            "the two runs have no metric in common that a veto looks at, so nothing can be judged; compare with a run "
            "of the same subject (all, retrieval or answers) whose questions did not all fail"
        )
    if comparison.paired < LEAST_SHARE * there:
        return (
            f"only {comparison.paired} of the {there} questions of the run before were asked again, which is less "
            "than half; ask those, or compare with a run of the same questions"
        )
    return None


def _asked(evaluation: Evaluation) -> dict[str, tuple[Question, Outcome]]:
    """The questions that have an outcome with nothing switched off, by all that is asked and expected."""
    outcomes = {outcome.question_id: outcome for outcome in evaluation.outcomes if outcome.variant == FULL.name}
    return {
        identity(question): (question, outcomes[question.id])
        for question in evaluation.questions
        if question.id in outcomes
    }


def _values(pairs: list[_Pair], metric: Metric, told: set[str]) -> list[tuple[float, float]]:
    return [both for pair in pairs if (both := pair.values(metric, told=metric.name in told)) is not None]


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


def _question_changes(pairs: list[_Pair], told: set[str]) -> list[QuestionChange]:
    """Questions of which any metric changed, the greatest loss first."""
    changed = []
    for pair in pairs:
        metrics = {
            name: both
            for name, metric in METRICS.items()
            if (both := pair.values(metric, told=name in told)) is not None and round(both[1] - both[0], _DIGITS)
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
