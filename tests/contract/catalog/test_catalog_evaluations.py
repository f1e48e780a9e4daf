"""Evaluations: what was ordered stays as it was, outcomes are written once each, and only what is finished counts."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection

from services.shared.catalog import evaluations, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import (
    Comparison,
    Estimate,
    Evaluation,
    EvaluationRequest,
    Outcome,
    Review,
    Row,
    Subject,
)
from services.shared.contracts.golden import Question, fingerprint
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState
from tests.contract.catalog.building import NOW, OTHER, SPACE, later, make_job

QUESTIONS = [Question(id="q1", text="When? 😀"), Question(id="q2", text="Where?", facts=[["left"]])]


def order(
    tx: Connection, id: str = "e", *, space: SpaceId = SPACE, seconds: float = 0, **request: object
) -> EvaluationRequest:
    sent = EvaluationRequest.model_validate({"questions": QUESTIONS, **request})
    asked = sent.questions or QUESTIONS
    evaluations.create(
        tx, id=id, job_id=JobId(f"job-{id}"), space=space, request=sent, questions=asked, now=later(seconds)
    )
    return sent


def whole(id: str = "e", *, space: SpaceId = SPACE, vetoed: bool | None = None, recall: float = 0.5) -> Evaluation:
    estimate = Estimate(mean=recall, low=0.1, high=0.9, n=2)
    comparison = None
    if vetoed is not None:
        comparison = Comparison(
            before_id="b",
            after_id=id,
            paired=2,
            only_before=0,
            only_after=0,
            changes=[],
            questions=[],
            vetoed=vetoed,
            level=0.99,
        )
    return Evaluation(
        id=id,
        space=space,
        name="golden",
        subject=Subject.ALL,
        created_at=NOW,
        seed=0,
        fingerprint=fingerprint(QUESTIONS),
        questions=QUESTIONS,
        system={"version": "1", "nested": {"a": [1, None]}},
        outcomes=[outcome("q1")],
        summary=Row(name="all", n=2, values={"recall@10": estimate}),
        by_kind=[],
        comparison=comparison,
    )


def outcome(id: str, variant: str = "full", **told: object) -> Outcome:
    return Outcome.model_validate({"question_id": id, "variant": variant, "values": {"mrr": 0.5}, **told})


def finish(tx: Connection, id: str = "e", *, vetoed: bool | None = None, space: SpaceId = SPACE) -> Evaluation:
    done = whole(id, vetoed=vetoed, space=space)
    evaluations.finish(tx, id, done, f"# {id}", f"<h1>{id}</h1>")
    return done


def test_what_was_ordered_comes_back_with_its_questions(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = order(tx, subject="answers", ablate=True, against="last", seed=7, risk=0.1)
    with catalog.read() as tx:
        stored = evaluations.load(tx, "e")
    assert (stored.space, stored.job_id, stored.created_at, stored.finished) == (SPACE, "job-e", NOW, False)
    assert stored.questions == QUESTIONS
    assert stored.request == sent.model_copy(update={"questions": None})


def test_what_was_never_ordered_is_said(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for act in (
            lambda: evaluations.load(tx, "e"),
            lambda: evaluations.add_outcomes(tx, "e", [outcome("q1")]),
            lambda: evaluations.finish(tx, "e", whole(), "", ""),
        ):
            with pytest.raises(RagstoneError) as refused:
                act()
            assert refused.value.code is ErrorCode.EVALUATION_NOT_FOUND
        assert evaluations.outcomes(tx, "e") == []
        assert evaluations.get(tx, SPACE, "e") is None
        assert evaluations.brief(tx, SPACE, "e") is None


def test_an_outcome_comes_back_whole(catalog: Catalog) -> None:
    review = Review(reviewer="accuracy", by="judge", passed=False, score=0.25, notes=["says ten, not nine ü"])
    told = outcome(
        "q1",
        gate="good",
        answerable=0.75,
        ranking=["a.md > Hours"],
        status="answered",
        text="At ten. [1]",
        reviews=[review],
        timings_ms={"find.total": 1.5},
        degraded=["x"],
    )
    with catalog.write() as tx:
        order(tx)
        evaluations.add_outcomes(tx, "e", [told])
    with catalog.read() as tx:
        assert evaluations.outcomes(tx, "e") == [told]


def test_outcomes_are_written_once_for_each_question_and_variant(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx)
        evaluations.add_outcomes(tx, "e", [])
        evaluations.add_outcomes(tx, "e", [outcome("q2"), outcome("q1"), outcome("q1", "BM25")])
    with catalog.write() as tx:
        evaluations.add_outcomes(tx, "e", [outcome("q1", error="again"), outcome("q2")])
        found = evaluations.outcomes(tx, "e")
        assert evaluations.asked(tx, "e") == {("q1", "BM25"), ("q1", "full"), ("q2", "full")}
    assert [(one.question_id, one.variant, one.error) for one in found] == [
        ("q1", "BM25", None),
        ("q1", "full", "again"),
        ("q2", "full", None),
    ]


def test_evaluations_do_not_share_outcomes(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx, "e1")
        order(tx, "e2", space=OTHER)
        evaluations.add_outcomes(tx, "e1", [outcome("q1")])
        evaluations.add_outcomes(tx, "e2", [outcome("q1", error="mine")])
        assert [one.error for one in evaluations.outcomes(tx, "e1")] == [None]
        assert [one.error for one in evaluations.outcomes(tx, "e2")] == ["mine"]
        assert evaluations.asked(tx, "e2") == {("q1", "full")}
        assert evaluations.asked(tx, "unknown") == set()
        evaluations.forget_outcomes(tx, "e1")
        assert evaluations.asked(tx, "e1") == set()
        assert evaluations.asked(tx, "e2") == {("q1", "full")}


def test_a_finished_evaluation_comes_back_whole_and_may_be_finished_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx)
        assert evaluations.get(tx, SPACE, "e") is None
        assert evaluations.report(tx, SPACE, "e", "html") is None
        done = finish(tx, vetoed=True)
    with catalog.write() as tx:
        assert evaluations.get(tx, SPACE, "e") == done
        assert evaluations.report(tx, SPACE, "e", "html") == "<h1>e</h1>"
        assert evaluations.report(tx, SPACE, "e", "markdown") == "# e"
        assert evaluations.load(tx, "e").finished
        again = finish(tx)
        assert evaluations.get(tx, SPACE, "e") == again
        brief = evaluations.brief(tx, SPACE, "e")
    assert brief is not None
    assert brief.vetoed is None


def test_another_space_knows_nothing_of_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx)
        finish(tx)
        assert evaluations.get(tx, OTHER, "e") is None
        assert evaluations.brief(tx, OTHER, "e") is None
        assert evaluations.report(tx, OTHER, "e", "markdown") is None
        assert evaluations.page(tx, OTHER, 5, None).items == []
        assert newest(tx, space=OTHER) is None


def test_a_list_says_what_each_is_and_what_it_came_to(catalog: Catalog) -> None:
    with catalog.write() as tx:
        order(tx, "e1", name="beir")
        order(tx, "e2", seconds=1, subject="retrieval")
        finish(tx, "e2", vetoed=False)
        page = evaluations.page(tx, SPACE, 5, None)
    running, done = page.items[1], page.items[0]
    assert (running.id, running.job_id, running.name, running.finished) == ("e1", "job-e1", "beir", False)
    assert (running.vetoed, running.metrics, running.questions) == (None, {}, 2)
    assert running.fingerprint == fingerprint(QUESTIONS)
    assert (done.finished, done.vetoed, done.metrics) == (True, False, {"recall@10": 0.5})
    assert (done.subject, done.created_at) == (Subject.RETRIEVAL, later(1))


@pytest.mark.parametrize("limit", [1, 2, 4, 50])
def test_pages_are_newest_first_and_complete(catalog: Catalog, limit: int) -> None:
    with catalog.write() as tx:
        for n in range(4):
            order(tx, f"e{n}", seconds=n // 2)
        order(tx, "elsewhere", space=OTHER)
    seen: list[str] = []
    with catalog.read() as tx:
        cursor: str | None = None
        while True:
            page = evaluations.page(tx, SPACE, limit, cursor)
            seen += [one.id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        with pytest.raises(RagstoneError):
            evaluations.page(tx, SPACE, 5, "nonsense")
    assert seen == ["e3", "e2", "e1", "e0"]


def newest(
    tx: Connection,
    questions: Sequence[Question] = QUESTIONS,
    subject: Subject = Subject.ALL,
    but_not: str = "",
    space: SpaceId = SPACE,
) -> str | None:
    return evaluations.newest(tx, space, subject=subject, questions=questions, but_not=but_not)


def test_the_newest_is_the_last_finished_one_of_exactly_these_questions(catalog: Catalog) -> None:
    with catalog.write() as tx:
        requests: list[dict[str, Any]] = [{}, {"name": "beir"}, {"subject": "answers"}, {}]
        for n, request in enumerate(requests):
            order(tx, f"e{n}", seconds=n, **request)
        order(tx, "part", seconds=9, questions=QUESTIONS[:1])
        for id in ("e0", "e1", "e2", "part"):
            finish(tx, id)
        assert newest(tx) == "e1", "whatever it is called"
        assert newest(tx, list(reversed(QUESTIONS)), but_not="e1") == "e0"


def test_the_same_half_is_preferred_to_the_whole_and_another_half_is_none(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n, subject in enumerate(("answers", "all")):
            order(tx, f"e{n}", seconds=n, subject=subject)
            finish(tx, f"e{n}")
        assert newest(tx, subject=Subject.ANSWERS) == "e0"
        assert newest(tx, subject=Subject.RETRIEVAL) == "e1"
        assert newest(tx, but_not="e1") is None


def test_else_it_is_one_of_much_the_same_questions_and_never_one_of_others(catalog: Catalog) -> None:
    more = [Question(id=f"q{n}", text=f"{n}?") for n in range(3, 7)]
    with catalog.write() as tx:
        order(tx, "much", questions=[*QUESTIONS, *more])
        order(tx, "little", seconds=1, questions=more[:1])
        order(tx, "others", seconds=2, questions=[Question(id="q3", text="Another text under the same id?")])
        for id in ("much", "little", "others"):
            finish(tx, id)
        assert newest(tx, [*QUESTIONS, *more[:3]]) == "much"
        assert newest(tx, more[:3], but_not="much") == "little"
        assert newest(tx, QUESTIONS, but_not="much") is None
        assert newest(tx, [Question(id="q9", text="3?")]) is None


@pytest.mark.parametrize("kind", [JobKind.EVALUATION, JobKind.GOLDEN])
def test_a_job_of_it_that_failed_is_retried_and_goes_on_where_it_was(catalog: Catalog, kind: JobKind) -> None:
    with catalog.write() as tx:
        order(tx)
        evaluations.add_outcomes(tx, "e", [outcome("q1")])
        make_job(tx, "job-e", kind=kind, queue=QUEUE_OF[kind])
        claimed = jobs.claim(tx, owner="w", queue=QUEUE_OF[kind], lease_s=60, now=NOW, job_id=JobId("job-e"))
        assert [job.id for job in claimed] == ["job-e"]
        assert jobs.fail(tx, JobId("job-e"), "w", reason="broke", now=NOW)
        again = jobs.retry(tx, SPACE, JobId("job-e"), later(1))
        assert (again.state, again.attempts, again.kind) == (JobState.QUEUED, 0, kind)
        assert len(evaluations.outcomes(tx, "e")) == 1
