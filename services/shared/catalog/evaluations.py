"""Evaluations: what was ordered, how each question came out so far, and the finished whole with its reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, delete, insert, or_, select, update

from services.shared.catalog import cursors, measuring, quoting, spaces
from services.shared.catalog.upserts import upserting
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import (
    Evaluation,
    EvaluationBrief,
    EvaluationList,
    EvaluationRequest,
    Outcome,
    Subject,
)
from services.shared.contracts.golden import Question, fingerprint, identity
from services.shared.contracts.ids import JobId, SpaceId

Form = Literal["html", "markdown"]

_e, _o = measuring.evaluations.c, measuring.evaluation_outcomes.c
_LOOKED_THROUGH = 50
"""Evaluations of which the questions are read, thousands each, when none has exactly those that are looked for."""
_BRIEF = [
    *(_e.id, _e.job_id, _e.name, _e.subject, _e.fingerprint, _e.question_count),
    *(_e.finished.is_not(None).label("is_finished"), _e.vetoed, _e.metrics, _e.created_at),
]


@dataclass(frozen=True)
class StoredEvaluation:
    """What a worker needs to begin or go on; the questions are beside the request, not in it."""

    id: str
    job_id: JobId
    space: SpaceId
    request: EvaluationRequest
    questions: list[Question]
    created_at: datetime
    finished: bool


def create(
    tx: Connection,
    *,
    id: str,
    job_id: JobId,
    space: SpaceId,
    request: EvaluationRequest,
    questions: Sequence[Question],
    now: datetime,
) -> None:
    """Writes an order down with the questions as they are now; the caller makes its job in the same transaction."""
    spaces.make_and_lock(tx, space, now)
    row = {
        "space_id": space,
        "id": id,
        "job_id": job_id,
        "name": request.name,
        "subject": request.subject,
        "fingerprint": fingerprint(questions),
        "question_count": len(questions),
        "request": request.model_dump(mode="json", exclude={"questions"}),
        "questions": [question.model_dump(mode="json") for question in questions],
        "created_at": now,
    }
    tx.execute(insert(measuring.evaluations), row)


def load(tx: Connection, id: str) -> StoredEvaluation:
    """What was ordered, of any space, for workers. Raises EVALUATION_NOT_FOUND."""
    columns = (_e.job_id, _e.space_id, _e.request, _e.questions, _e.created_at, _e.finished.is_not(None).label("over"))
    row = tx.execute(select(*columns).where(_e.id == id)).one_or_none()
    if row is None:
        raise _unknown(id)
    # A newer release may have stored fields that this one does not know.
    return StoredEvaluation(
        id=id,
        job_id=row.job_id,
        space=row.space_id,
        request=EvaluationRequest.model_validate(row.request, extra="ignore"),
        questions=[Question.model_validate(stored, extra="ignore") for stored in row.questions],
        created_at=row.created_at,
        finished=row.over,
    )


def asked(tx: Connection, id: str) -> set[tuple[str, str]]:
    """Question and variant of what came out so far."""
    rows = tx.execute(_outcomes_of(id, _o.question_id, _o.variant))
    return {(question_id, variant) for question_id, variant in rows}


def outcomes(tx: Connection, id: str) -> list[Outcome]:
    """What came out so far, by question and variant."""
    rows = tx.execute(_outcomes_of(id, _o.outcome).order_by(_o.question_id, _o.variant)).scalars()
    return [Outcome.model_validate(stored) for stored in rows]


def _outcomes_of(id: str, *columns: ColumnElement[Any]) -> Select[Any]:
    same = and_(_o.space_id == _e.space_id, _o.evaluation_id == _e.id)
    return select(*columns).join_from(measuring.evaluations, measuring.evaluation_outcomes, same).where(_e.id == id)


def add_outcomes(tx: Connection, id: str, outcomes: Sequence[Outcome]) -> None:
    """Writes outcomes down; one of the same question and variant is overwritten. Raises EVALUATION_NOT_FOUND.

    Words of a document that was deleted since the order are left out, and outcomes of questions made of it.
    """
    space = _space_of(tx, id)
    kept = quoting.still_asked(tx, id, outcomes)
    if not kept:
        return
    rows = [
        {
            "space_id": space,
            "evaluation_id": id,
            "question_id": outcome.question_id,
            "variant": outcome.variant,
            "outcome": outcome.model_dump(mode="json"),
        }
        for outcome in kept
    ]
    upsert = upserting(tx, measuring.evaluation_outcomes)
    key = ["space_id", "evaluation_id", "question_id", "variant"]
    tx.execute(upsert.on_conflict_do_update(index_elements=key, set_={"outcome": upsert.excluded.outcome}), rows)


def forget_outcomes(tx: Connection, id: str) -> None:
    """Drops what came out, so that every question is asked again."""
    tx.execute(delete(measuring.evaluation_outcomes).where(_o.space_id == _space_of(tx, id), _o.evaluation_id == id))


def finish(tx: Connection, id: str, evaluation: Evaluation, markdown: str, html: str) -> Evaluation | None:
    """Keeps the finished whole with its reports; again replaces them. Raises EVALUATION_NOT_FOUND.

    Where a document was deleted meanwhile that it quotes, nothing is kept, and what may be comes back.
    """
    comparison = evaluation.comparison
    before = None if comparison is None else get(tx, _space_of(tx, id), comparison.before_id)
    may_be = quoting.as_kept(tx, evaluation, before)
    if may_be != evaluation:
        return may_be
    values = {
        "finished": evaluation.model_dump_json(),
        "markdown": markdown,
        "html": html,
        "metrics": {metric: estimate.mean for metric, estimate in evaluation.summary.values.items()},
        "vetoed": None if evaluation.comparison is None else evaluation.comparison.vetoed,
    }
    if not tx.execute(update(measuring.evaluations).where(_e.id == id).values(**values)).rowcount:
        raise _unknown(id)
    return None


def store_reports(tx: Connection, evaluation: Evaluation, markdown: str, html: str) -> bool:
    """Keeps reports that were made anew; False when the evaluation is not any more what they were made from."""
    space = _space_of(tx, evaluation.id)
    spaces.lock(tx, space)
    if get(tx, space, evaluation.id) != evaluation:
        return False
    this = (_e.space_id == space, _e.id == evaluation.id)
    tx.execute(update(measuring.evaluations).where(*this).values(markdown=markdown, html=html))
    return True


def get(tx: Connection, space: SpaceId, id: str) -> Evaluation | None:
    """The finished whole; None while it is not finished, or when this space has no such evaluation."""
    stored = tx.execute(select(_e.finished).where(_e.space_id == space, _e.id == id)).scalar_one_or_none()
    return None if stored is None else Evaluation.model_validate_json(stored, extra="ignore")


def report(tx: Connection, space: SpaceId, id: str, form: Form) -> str | None:
    """The finished report; None as in ``get``."""
    column = _e.html if form == "html" else _e.markdown
    found: str | None = tx.execute(select(column).where(_e.space_id == space, _e.id == id)).scalar_one_or_none()
    return found


def brief(tx: Connection, space: SpaceId, id: str) -> EvaluationBrief | None:
    """An evaluation of this space, finished or not, as a list shows it."""
    row = tx.execute(select(*_BRIEF).where(_e.space_id == space, _e.id == id)).one_or_none()
    return None if row is None else _read(row)


def page(tx: Connection, space: SpaceId, limit: int, cursor: str | None) -> EvaluationList:
    """A page of the space's evaluations, newest first; INVALID_REQUEST for a bad cursor."""
    query = select(*_BRIEF).where(_e.space_id == space)
    if cursor is not None:
        at, id = cursors.decode_moment("evaluations", cursor)
        query = query.where(or_(_e.created_at < at, and_(_e.created_at == at, _e.id < id)))
    found = [_read(row) for row in tx.execute(query.order_by(_e.created_at.desc(), _e.id.desc()).limit(limit + 1))]
    shown = found[:limit]
    more = len(found) > limit
    following = cursors.encode("evaluations", shown[-1].created_at.isoformat(), shown[-1].id) if more else None
    return EvaluationList(items=shown, next_cursor=following)


def newest(
    tx: Connection, space: SpaceId, *, subject: Subject, questions: Sequence[Question], but_not: str
) -> str | None:
    """The newest finished evaluation, other than ``but_not``, that these questions may be compared with.

    Of exactly these questions, where there is one; else of much the same, which is when at least half of each set is
    in the other, with the same expected of it; else of any of these, but of those the newest few only. Each time one
    of the same half of the system is preferred to one of the whole, which has the half's metrics too. A run that was
    vetoed is passed over: else what was refused once would be the measure the next time.
    """
    good = or_(_e.vetoed.is_(None), _e.vetoed.is_(False))
    fits = (
        _e.space_id == space,
        _e.subject.in_({subject, Subject.ALL}),
        _e.id != but_not,
        _e.finished.is_not(None),
        good,
    )
    order = ((_e.subject == subject).desc(), _e.created_at.desc(), _e.id.desc())
    same = select(_e.id).where(*fits, _e.fingerprint == fingerprint(questions)).order_by(*order).limit(1)
    found: str | None = tx.execute(same).scalar_one_or_none()
    if found is not None:
        return found
    wanted = {identity(question) for question in questions}
    some: str | None = None
    newest_few: list[str] = list(
        tx.execute(select(_e.id).where(*fits).order_by(*order).limit(_LOOKED_THROUGH)).scalars()
    )
    for id in newest_few:
        stored = tx.execute(select(_e.questions).where(_e.id == id)).scalar_one()
        there = {identity(Question.model_validate(question, extra="ignore")) for question in stored}
        common = len(wanted & there)
        if common and 2 * common >= max(len(wanted), len(there)):
            return id
        some = id if some is None and common else some
    return some


def _space_of(tx: Connection, id: str) -> SpaceId:
    space = tx.execute(select(_e.space_id).where(_e.id == id)).scalar_one_or_none()
    if space is None:
        raise _unknown(id)
    return SpaceId(space)


def _unknown(id: str) -> RagstoneError:
    return RagstoneError(ErrorCode.EVALUATION_NOT_FOUND, f"there is no evaluation {id[:80]!r}; it never was")


def _read(row: Row[*tuple[Any, ...]]) -> EvaluationBrief:
    return EvaluationBrief(
        id=row.id,
        job_id=row.job_id,
        name=row.name,
        subject=Subject(row.subject),
        fingerprint=row.fingerprint,
        questions=row.question_count,
        finished=row.is_finished,
        vetoed=row.vetoed,
        metrics=row.metrics or {},
        created_at=row.created_at,
    )
