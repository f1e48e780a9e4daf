"""An evaluation as a real run leaves it: 80 questions of 8 kinds, ablation, judge, and a run before it.

The chance in it is seeded; its numbers are made up, but their shapes are those of a run.
"""

import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random

from services.shared.contracts.evaluation import (
    AblationRow,
    Agreement,
    Change,
    Comparison,
    Estimate,
    Evaluation,
    Latency,
    Outcome,
    QuestionChange,
    Reliability,
    ReliabilityBin,
    Review,
    RiskCoverage,
    RiskPoint,
    Row,
    Subject,
)
from services.shared.contracts.golden import Behaviour, GoldSpan, Question, fingerprint
from services.shared.contracts.ids import DocumentId
from tests.unit.evaluation_report.told import ASKED, KINDS, STAGES, VARIANTS

PER_KIND = 10


def questions() -> list[Question]:
    """Ten of each kind; every fifth is not answered by the documents."""
    made = []
    for kind in KINDS:
        for place in range(PER_KIND):
            text, answer, fact, document = ASKED[(place + len(kind)) % len(ASKED)]
            held = place % 5 != 4
            made.append(
                Question(
                    id=f"{kind[:2]}-{place + 1:02}",
                    text=text,
                    kind=kind,
                    behaviour=Behaviour.ANSWER if held else Behaviour.ABSTAIN,
                    expected=answer if held else None,
                    facts=[[fact, fact.upper()]] if held else [],
                    must_not=["as an AI"],
                    gold=[GoldSpan(document_id=DocumentId(document), quote=answer)] if held else [],
                    tags=["two_part"] if place % 3 == 0 else [],
                    language="en",
                )
            )
    return made


def outcome(question: Question, dice: Random) -> Outcome:
    """Right seven times of ten; the confidence knows it, roughly."""
    held = question.behaviour is Behaviour.ANSWER
    score = dice.choices([1.0, 0.0, -1.0], [0.74, 0.14, 0.12] if held else [0.86, 0.0, 0.14])[0]
    answered = (score != 0) if held else score < 0
    right = score > 0
    confidence = min(0.99, max(0.02, dice.gauss(0.82 if answered and right else 0.5 if answered else 0.2, 0.13)))
    gold = [span.document_id for span in question.gold]
    others = ["projects/quayside.md > Numbers", "work/saltmarsh-ledger.md > Team", "faq/leadership.md > Style"]
    ranking = [f"{document} > Overview" for document in gold] + others * 5
    values = {"score": score, "right": float(right), "checks": 1.0, "gate_right": float(right or dice.random() < 0.5)}
    if held:
        rank = 1 if right else dice.choice([2, 3, 9])
        values |= {"ndcg@10": 1 / math.log2(rank + 1), "mrr": 1 / rank, "recall@5": float(rank < 6), "recall@10": 1.0}
    if held and answered:
        values |= {"accuracy": float(right), "validity": float(dice.random() < 0.95), "supported": 0.8 + 0.2 * right}
        values |= {"citation_precision": 1.0 if right else 0.5, "citation_recall": float(right)}
    return Outcome(
        question_id=question.id,
        values=values,
        gate="good" if answered else "poor",
        answerable=round(min(1.0, max(0.0, dice.gauss(0.8 if held else 0.25, 0.15))), 3),
        ranking=ranking,
        status="answered" if answered else "abstained",
        reason=None if answered else "nothing_relevant",
        text=_text(question, answered, right),
        confidence=round(confidence, 3),
        citations=[f"{span.document_id}: {span.quote}" for span in question.gold] if answered else [],
        writer="extractive",
        reviews=_reviews(right, dice) if answered else [],
        timings_ms={stage: round(dice.gauss(middle, middle / 6), 1) for stage, middle in STAGES.items()},
    )


def estimate(values: Sequence[float]) -> Estimate:
    """Mean with a normal interval: near enough to a bootstrap for a page."""
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Estimate(mean=mean, low=max(min(values), mean - half), high=min(max(values), mean + half), n=len(values))


def row(name: str, outcomes: Sequence[Outcome]) -> Row:
    """Every metric that an outcome has."""
    names = list(dict.fromkeys(metric for one in outcomes for metric in one.values))
    values = {name: estimate([one.values[name] for one in outcomes if name in one.values]) for name in names}
    return Row(name=name, n=len(outcomes), values=values)


def evaluation() -> Evaluation:
    """The whole of it, one question failed."""
    dice = Random(7)
    asked = questions()
    full = [outcome(question, dice) for question in asked]
    full[-1] = Outcome(question_id=asked[-1].id, error="gateway: no answer within 60 s; is the generator running?")
    by_kind = [
        row(kind, full[place * PER_KIND : (place + 1) * PER_KIND][: PER_KIND - (kind == KINDS[-1])])
        for place, kind in enumerate(KINDS)
    ]
    return Evaluation(
        id="ev-2026-03-14-7f3a",
        space="main",
        name="Juno's portfolio, 80 questions",
        subject=Subject.ALL,
        created_at=datetime(2026, 3, 14, 9, 26, tzinfo=UTC),
        seed=0,
        fingerprint=fingerprint(asked),
        questions=asked,
        system={
            "version": "0.1.0",
            "index": "main-9c41e0",
            "embedder": "gte-multilingual-base",
            "writer": "extractive",
            "judge": "qwen3-8b-instruct",
            "settings": {"final_passages": 8, "gate": {"good": 0.62, "poor": 0.31}, "diversity": True},
            "documents": 41,
        },
        outcomes=[*full, *_ablated(asked, dice)],
        summary=row("all", full[:-1]),
        by_kind=by_kind,
        ablation=_ablation(dice),
        risk_coverage=_risk(full),
        reliability=[_reliability("confidence", 0.058, 0.091), _reliability("answerable", 0.034, 0.072)],
        latency=[
            Latency(stage=stage, n=79, p50_ms=middle, p95_ms=middle * 2.6) for stage, middle in STAGES.items()
        ],
        agreement=[
            Agreement(reviewer="accuracy", first="rule", second="embedding", n=61, share=0.934, kappa=0.79,
                      differ=["fa-03", "op-07", "sy-02", "be-09"]),
            Agreement(reviewer="accuracy", first="rule", second="judge", n=61, share=0.902, kappa=0.68,
                      differ=["fa-03", "id-01", "op-07", "sy-02", "sy-06", "be-09"]),
            Agreement(reviewer="validity", first="rule", second="judge", n=61, share=1.0, kappa=None),
        ],
        comparison=comparison(asked, full),
    )  # fmt: skip


def comparison(asked: Sequence[Question], full: Sequence[Outcome]) -> Comparison:
    """Vetoed: the answers got worse although the ranking got better."""

    def change(metric: str, before: float, after: float, half: float) -> Change:
        moved = after - before
        between = Estimate(mean=moved, low=moved - half, high=moved + half, n=78)
        return Change(
            metric=metric, before=before, after=after, difference=between,
            worse=between.high < 0, better=between.low > 0,
        )  # fmt: skip

    changes = [
        change("score", 0.74, 0.58, 0.11),
        change("citation_precision", 0.91, 0.93, 0.05),
        change("citation_recall", 0.83, 0.85, 0.06),
        change("supported", 0.962, 0.958, 0.02),
        change("ndcg@10", 0.801, 0.862, 0.04),
        change("recall@5", 0.88, 0.91, 0.045),
        change("gate_right", 0.86, 0.85, 0.06),
    ]
    changed: list[QuestionChange] = []
    for question, one in zip(asked, full, strict=True):
        score = one.values.get("score", 0.0)
        other = "Juno Tarkwell likes to measure the level of a canal. [1]"
        if question.gold and score <= 0 and len(changed) < 9:
            metrics = {"score": (1.0, score), "citation_recall": (1.0, 0.0)}
            before, better = question.expected, False
        elif question.gold and score > 0 and question.id.endswith("2"):
            metrics, before, better = {"score": (-1.0, 1.0), "ndcg@10": (0.43, 1.0)}, other, True
        else:
            continue
        changed.append(
            QuestionChange(
                question_id=question.id, text=question.text, better=better, metrics=metrics, before=before,
                after=one.text,
            )
        )  # fmt: skip
    return Comparison(
        before_id="ev-2026-03-12-11d0", after_id="ev-2026-03-14-7f3a", paired=78, only_before=0, only_after=2,
        changes=changes, questions=changed, vetoed=True, level=1 - 0.05 / len(changes),
    )  # fmt: skip


def _text(question: Question, answered: bool, right: bool) -> str:
    if not answered:
        return "I found nothing about that in the documents."
    if right and question.expected:
        return f"{question.expected} [1]"
    return "She maintains tidegate with two others and spends about three hours a week on it. [1]"


def _reviews(right: bool, dice: Random) -> list[Review]:
    doubt = dice.random() < 0.1
    notes = [] if right else ["does not say: 1 September 2026"]
    return [
        Review(reviewer="accuracy", by="rule", passed=right, score=float(right), notes=notes),
        Review(reviewer="accuracy", by="embedding", passed=right is not doubt, score=0.83 if right else 0.41),
        Review(reviewer="accuracy", by="judge", passed=right, score=1.0 if right else 0.2),
        Review(reviewer="validity", by="rule", passed=True, score=1.0),
        Review(reviewer="checks", by="rule", passed=True, score=1.0),
    ]


def _ablated(asked: Sequence[Question], dice: Random) -> list[Outcome]:
    return [
        Outcome(question_id=question.id, variant=name, values={"ndcg@10": round(dice.uniform(0.4, 1), 3)})
        for question in asked
        for name in VARIANTS
        if question.gold
    ]


def _ablation(dice: Random) -> list[AblationRow]:
    rows = []
    before: float | None = None
    means, halves = (0.702, 0.668, 0.804, 0.811, 0.862), (0.05, 0.03, 0.04, 0.012, 0.031)
    for name, mean, half in zip(VARIANTS, means, halves, strict=True):
        values = {
            "ndcg@10": Estimate(mean=mean, low=mean - 0.06, high=mean + 0.06, n=64),
            "recall@10": Estimate(mean=mean + 0.08, low=mean, high=min(1.0, mean + 0.15), n=64),
        }
        added = {} if before is None else {
            metric: Estimate(mean=mean - before, low=mean - before - half, high=mean - before + half, n=64)
            for metric in values
        }  # fmt: skip
        before = mean
        rows.append(AblationRow(name=name, values=values, added=added, p50_ms=dice.uniform(20, 60), p95_ms=140.0))
    return rows


def _risk(outcomes: Sequence[Outcome]) -> RiskCoverage:
    answered = sorted(
        (one for one in outcomes if one.status == "answered" and one.confidence is not None),
        key=lambda one: -(one.confidence or 0),
    )
    points, wrong, chosen = [], 0, None
    for place, one in enumerate(answered, start=1):
        wrong += one.values["right"] < 1
        point = RiskPoint(threshold=one.confidence or 0, coverage=place / len(outcomes), risk=wrong / place)
        points.append(point)
        chosen = point if point.risk <= 0.05 else chosen
    return RiskCoverage(
        points=points, area=statistics.fmean(point.risk for point in points), allowed=0.05,
        threshold=chosen.threshold if chosen else None, coverage=chosen.coverage if chosen else 0.0,
    )  # fmt: skip


def _reliability(of: str, ece: float, brier: float) -> Reliability:
    counts = (6, 4, 0, 3, 5, 6, 9, 14, 19, 13)
    bins = [
        ReliabilityBin(
            low=place / 10, high=(place + 1) / 10, n=n, said=place / 10 + 0.05,
            was=min(1.0, max(0.0, place / 10 + 0.05 + (-0.08 if place % 2 else 0.05))),
        )
        for place, n in enumerate(counts)
    ]  # fmt: skip
    return Reliability(of=of, bins=bins, ece=ece, brier=brier)
