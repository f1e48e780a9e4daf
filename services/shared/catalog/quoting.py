"""Evaluations that quote a deleted document: its words are taken out of what is kept, and of what comes later."""

import json
from collections.abc import Collection, Iterable

from sqlalchemy import ColumnElement, Connection, String, and_, cast, delete, exists, or_, select, update

from services.shared.catalog import measuring, schema
from services.shared.catalog.redaction import (
    REPORT_TAKEN_OUT,
    TAKEN_OUT,
    Gone,
    evaluation_without,
    names,
    outcome_without,
)
from services.shared.contracts.evaluation import Evaluation, Outcome
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import DocumentId, SpaceId

_e, _o, _ch = measuring.evaluations.c, measuring.evaluation_outcomes.c, schema.changes.c


def take_out(tx: Connection, space: SpaceId, gone: Gone) -> list[str]:
    """Take the documents' words out of the space's evaluations; the finished ones whose reports have to be made anew.

    One that is under way goes on without the questions that were made of them.
    """
    lost: dict[str, set[str]] = {}
    for id in _quoting(tx, space, [*gone.documents, *gone.titles]):
        lost[id] = _taken_out(tx, space, id, gone, ())
    reports = [id for id, questions in lost.items() if questions]
    for before in list(reports):
        # What a later run was compared with repeats the answers of the run before.
        named = and_(_e.space_id == space, _e.finished.contains(f'"before_id":{json.dumps(before)}', autoescape=True))
        for id in tx.execute(select(_e.id).where(named)).scalars().all():
            if _taken_out(tx, space, id, gone, lost[before]) and id not in reports:
                reports.append(id)
    return reports


def removed_since(tx: Connection, evaluation_id: str) -> Gone:
    """The documents of its space that were deleted since an evaluation was ordered."""
    since = (_ch.space_id == _e.space_id, _ch.kind == "remove", _ch.at >= _e.created_at)
    query = select(_ch.document_id).join_from(measuring.evaluations, schema.changes, and_(*since))
    return Gone(frozenset(map(DocumentId, tx.execute(query.where(_e.id == evaluation_id).distinct()).scalars())))


def still_asked(tx: Connection, evaluation_id: str, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes as they may be kept: without the words of what was deleted meanwhile, and without its questions."""
    found = list(outcomes)
    gone = removed_since(tx, evaluation_id)
    if not gone.documents:
        return found
    stored = tx.execute(select(_e.questions).where(_e.id == evaluation_id)).scalar_one()
    asked = {question["id"] for question in stored}
    return [outcome_without(one, gone, named=False) for one in found if one.question_id in asked]


def as_kept(tx: Connection, evaluation: Evaluation, before: Evaluation | None) -> Evaluation:
    """A finished evaluation without the words of what was deleted while it was made."""
    gone = removed_since(tx, evaluation.id)
    if not gone.documents:
        return evaluation
    also = {one.question_id for one in before.outcomes if one.text == TAKEN_OUT} if before else set[str]()
    return evaluation_without(evaluation, gone, also)[0]


def _quoting(tx: Connection, space: SpaceId, words: Collection[str]) -> list[str]:
    """Evaluations in which any of the words stands; more than that is looked at one by one."""
    forms = {form for word in words for form in json_forms(word)}
    whole = [_holds(column, forms) for column in (_e.finished, cast(_e.questions, String))]
    same = (_o.space_id == _e.space_id, _o.evaluation_id == _e.id)
    outcome = exists().where(*same, _holds(cast(_o.outcome, String), forms))
    return list(tx.execute(select(_e.id).where(_e.space_id == space, or_(*whole, outcome))).scalars())


def _holds(column: ColumnElement[str], forms: Iterable[str]) -> ColumnElement[bool]:
    return or_(*(column.contains(form, autoescape=True) for form in forms))


def json_forms(word: str) -> set[str]:
    """How a word may stand in JSON: as it is, or with everything beyond ASCII escaped."""
    return {json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}


def _taken_out(tx: Connection, space: SpaceId, id: str, gone: Gone, also: Collection[str]) -> set[str]:
    """Write one evaluation anew; the questions that lost something, none when nothing had to be changed."""
    this = and_(_e.space_id == space, _e.id == id)
    row = tx.execute(select(_e.finished, _e.questions).where(this)).one()
    questions = [Question.model_validate(stored, extra="ignore") for stored in row.questions]
    named = {question.id for question in questions if names(question, gone)}
    if row.finished is None:
        left = [stored for stored in row.questions if stored["id"] not in named]
        tx.execute(update(measuring.evaluations).where(this).values(questions=left, question_count=len(left)))
        its = (_o.space_id == space, _o.evaluation_id == id)
        tx.execute(delete(measuring.evaluation_outcomes).where(*its, _o.question_id.in_(sorted(named))))
        _outcomes_without(tx, space, id, gone, frozenset())
        return set()
    evaluation = Evaluation.model_validate_json(row.finished, extra="ignore")
    changed, lost = evaluation_without(evaluation, gone, also)
    if changed == evaluation:
        return set()
    whole = {
        "finished": changed.model_dump_json(),
        "questions": [question.model_dump(mode="json") for question in changed.questions],
        "markdown": REPORT_TAKEN_OUT,
        "html": REPORT_TAKEN_OUT,
    }
    tx.execute(update(measuring.evaluations).where(this).values(**whole))
    _outcomes_without(tx, space, id, gone, named)
    return {*lost, *also}


def _outcomes_without(tx: Connection, space: SpaceId, id: str, gone: Gone, named: Collection[str]) -> None:
    its = and_(_o.space_id == space, _o.evaluation_id == id)
    for stored in tx.execute(select(_o.outcome).where(its)).scalars().all():
        outcome = Outcome.model_validate(stored)
        changed = outcome_without(outcome, gone, named=outcome.question_id in named)
        if changed != outcome:
            this = and_(its, _o.question_id == outcome.question_id, _o.variant == outcome.variant)
            tx.execute(
                update(measuring.evaluation_outcomes).where(this).values(outcome=changed.model_dump(mode="json"))
            )
