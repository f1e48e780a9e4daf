"""What the numbers come to, in sentences: the verdict of a comparison, the calibrated threshold, the head's facts."""

from services.shared.contracts.evaluation import Change, Comparison, Evaluation, QuestionChange, RiskCoverage, Subject
from services.shared.evaluation.report import words
from services.shared.evaluation.variants import FULL

_SUBJECTS = {
    Subject.ALL: "retrieval and answers",
    Subject.RETRIEVAL: "retrieval",
    Subject.ANSWERS: "answers",
}
_WRITERS_MOST = 3
_IDS_MOST = 20


def facts(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Name and value of what a reader must know before any number."""
    held = evaluation.system
    named = [("Index", "index"), ("Embedder", "embedder"), ("Version", "version")]
    return [
        ("Date", words.date(evaluation.created_at)),
        ("Space", words.one_line(evaluation.space)),
        ("Questions", f"{len(evaluation.questions):,}"),
        ("Evaluated", _SUBJECTS[evaluation.subject]),
        ("Writer", words.setting(held["writer"]) if "writer" in held else _writers(evaluation)),
        ("Judge", words.setting(held.get("judge"))),
        *((name, words.setting(held[key])) for name, key in named if key in held),
        ("Seed", str(evaluation.seed)),
        ("Fingerprint", evaluation.fingerprint),
    ]


def verdict(comparison: Comparison) -> tuple[str, str]:
    """A few words and a sentence or two: may the change be kept?"""
    worse = [change for change in comparison.changes if change.worse]
    better = [change for change in comparison.changes if change.better]
    gained = f" {_moved(better)} got better beyond chance." if better else ""
    if comparison.vetoed:
        lost = f"{_moved(worse)} got worse beyond what chance explains." if worse else ""
        ids = words.together([words.one_line(id) for id in comparison.gave_in[:_IDS_MOST]])
        gave_in = f"Answered, though they were declined before and should be: {ids}." if comparison.gave_in else ""
        told = " ".join(part for part in (lost, gave_in) if part)
        return "Vetoed", f"{told}{gained} Do not keep this change as it is."
    if not comparison.changes:
        return "Nothing compared", "The two runs have no question and metric in common."
    return "Not vetoed", f"No metric got worse beyond what chance explains.{gained}"


def notes(evaluation: Evaluation) -> list[str]:
    """What a reader must know of the run, beside its numbers; mostly nothing."""
    return [note for note in (missing_gold(evaluation), documents_changed(evaluation)) if note is not None]


def missing_gold(evaluation: Evaluation) -> str | None:
    """Which questions no retrieval could get right, since what they ask to be found is not there."""
    ids = list(dict.fromkeys(words.one_line(one.question_id) for one in evaluation.outcomes if one.missing_gold))
    if not ids:
        return None
    more = [f"{len(ids) - _IDS_MOST} more"] if len(ids) > _IDS_MOST else []
    return (
        f"The gold passages of {words.counted(len(ids), 'question')} do not stand in the documents: "
        f"{words.together([*ids[:_IDS_MOST], *more])}."
    )


def documents_changed(evaluation: Evaluation) -> str | None:
    """That not all questions met the same documents."""
    seen = {outcome.seq for outcome in evaluation.outcomes if outcome.seq is not None}
    if len(seen) < 2:
        return None
    return "Documents changed during the run, so that not all questions were asked of the same ones."


def pairing(comparison: Comparison) -> str:
    """Which questions were compared, and how sure the intervals are."""
    apart = [
        f"{number:,} {where}"
        for number, where in ((comparison.only_before, "only in the run before"), (comparison.only_after, "only now"))
        if number
    ]
    pairs = f"{words.counted(comparison.paired, 'question')} in both runs"
    level = words.percent(comparison.level, 2)
    return (
        f"{words.together([pairs, *apart])}. Each interval is at {level}, so that all of them together hold "
        f"at 95 % (Bonferroni). The run before is {words.one_line(comparison.before_id)}."
    )


def threshold(curve: RiskCoverage) -> str:
    """What the chosen threshold means for a visitor."""
    allowed = words.percent(curve.allowed)
    if curve.threshold is None:
        return f"No confidence threshold keeps the share of wrong answers within {allowed}."
    return (
        f"Answering only at a confidence of {words.plain(curve.threshold, 2)} or more answers "
        f"{words.percent(curve.coverage)} of the questions and keeps the share of wrong ones among them "
        f"within {allowed}."
    )


def moved(change: QuestionChange) -> list[str]:
    """Each metric as ``label before → after``."""
    return [
        f"{words.brief(metric)} {words.move(metric, before, after)}"
        for metric, (before, after) in change.metrics.items()
    ]


def _writers(evaluation: Evaluation) -> str:
    """Who wrote, as the outcomes tell it."""
    written = [outcome.writer for outcome in evaluation.outcomes if outcome.writer and outcome.variant == FULL.name]
    names = list(dict.fromkeys(words.one_line(name) for name in written))
    return words.setting(names[:_WRITERS_MOST])


def _moved(changed: list[Change]) -> str:
    told = [
        f"{words.brief(change.metric)} ({words.move(change.metric, change.before, change.after)})" for change in changed
    ]
    return words.together(told)
