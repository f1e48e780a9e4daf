"""What people say of answers, and what owners make of it. An answer stays here only because somebody judged it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, insert, or_, select, update

from services.shared.catalog import cursors, measuring, schema, spaces
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Evidence, Feedback, FeedbackList, FeedbackState, Verdict
from services.shared.contracts.ids import DocumentId, SpaceId

PER_QUERY = 500

_f, _s, _d = measuring.feedback.c, measuring.feedback_sources.c, schema.documents.c
_COLUMNS = [_f[name] for name in Feedback.model_fields]
_OF_ANSWER = (
    select(*_COLUMNS)
    .where(_f.space_id == bindparam("space"), _f.answer_id == bindparam("answer"))
    .order_by(_f.created_at.desc(), _f.id.desc())
    .limit(1)
)
_CITING = (
    select(_f.id, _f.evidence)
    .join_from(
        measuring.feedback_sources, measuring.feedback, and_(_f.space_id == _s.space_id, _f.id == _s.feedback_id)
    )
    .where(_s.space_id == bindparam("space"), _s.document_id == bindparam("document"))
)
_TAKE_OUT = (
    update(measuring.feedback)
    .where(_f.space_id == bindparam("space"), _f.id == bindparam("feedback"))
    .values(answer_text=bindparam("instead"), evidence=bindparam("left"))
)


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer as somebody judges it; ``documents`` are those that it cites."""

    id: str
    question: str
    text: str
    status: str
    documents: Collection[DocumentId]
    evidence: Evidence | None = None


def add(
    tx: Connection,
    space: SpaceId,
    answer: JudgedAnswer,
    *,
    id: str,
    verdict: Verdict,
    comment: str | None,
    now: datetime,
) -> Feedback:
    """Writes a verdict down. While nobody looked at the answer's last one, the new one takes its place.

    The same verdict again changes nothing, also after an owner dealt with it.
    """
    spaces.make_and_lock(tx, space, now)
    row = tx.execute(_OF_ANSWER, {"space": space, "answer": answer.id}).one_or_none()
    last = None if row is None else _read(row)
    if last is not None:
        if (last.verdict, last.comment) == (verdict, comment):
            return last
        if last.state is FeedbackState.OPEN:
            return _changed(tx, space, last.id, verdict=verdict, comment=comment)
    gone = _deleted(tx, space, answer.documents)
    evidence = None if answer.evidence is None else _without(answer.evidence, gone)
    values = {
        "id": id,
        "answer_id": answer.id,
        "question": answer.question,
        "answer_text": _taken_out(gone[0]) if gone else answer.text,
        "answer_status": answer.status,
        "verdict": verdict,
        "comment": comment,
        "state": FeedbackState.OPEN,
        "golden_id": None,
        "created_at": now,
    }
    stored = None if evidence is None else evidence.model_dump(mode="json")
    tx.execute(insert(measuring.feedback), {"space_id": space, "evidence": stored, **values})
    sources = [{"space_id": space, "feedback_id": id, "document_id": document} for document in set(answer.documents)]
    if sources:
        tx.execute(insert(measuring.feedback_sources), sources)
    return Feedback(evidence=evidence, **values)


def page(
    tx: Connection,
    space: SpaceId,
    *,
    states: Collection[FeedbackState] | None,
    verdict: Verdict | None,
    limit: int,
    cursor: str | None,
) -> FeedbackList:
    """A page, newest first; INVALID_REQUEST for a bad cursor."""
    query = select(*_COLUMNS).where(_f.space_id == space)
    if states is not None:
        query = query.where(_f.state.in_(list(states)))
    if verdict is not None:
        query = query.where(_f.verdict == verdict)
    if cursor is not None:
        at, id = cursors.decode_moment("feedback", cursor)
        query = query.where(or_(_f.created_at < at, and_(_f.created_at == at, _f.id < id)))
    query = query.order_by(_f.created_at.desc(), _f.id.desc()).limit(limit + 1)
    found = [_read(row) for row in tx.execute(query)]
    shown = found[:limit]
    more = len(found) > limit
    following = cursors.encode("feedback", shown[-1].created_at.isoformat(), shown[-1].id) if more else None
    return FeedbackList(items=shown, next_cursor=following)


def get(tx: Connection, space: SpaceId, id: str) -> Feedback | None:
    """One verdict of this space."""
    row = tx.execute(select(*_COLUMNS).where(_f.space_id == space, _f.id == id)).one_or_none()
    return None if row is None else _read(row)


def take(tx: Connection, space: SpaceId, id: str) -> Feedback:
    """A verdict to deal with, kept from others until the transaction ends.

    Raises FEEDBACK_NOT_FOUND, or FEEDBACK_STATE_CONFLICT when it became a golden question already.
    """
    spaces.lock(tx, space)
    found = get(tx, space, id)
    if found is None:
        raise RagstoneError(
            ErrorCode.FEEDBACK_NOT_FOUND,
            f"there is no feedback {id[:80]!r} in space {space!r}; GET /v1/feedback lists what there is",
        )
    if found.state is FeedbackState.CORRECTED:
        raise RagstoneError(
            ErrorCode.FEEDBACK_STATE_CONFLICT,
            f"feedback {id} was corrected already: it is golden question {found.golden_id!r}, which PUT /v1/golden "
            "replaces",
        )
    return found


def corrected(tx: Connection, space: SpaceId, id: str, golden_id: str) -> Feedback:
    """Notes that an owner's correction became this golden question. Raises as ``take`` does."""
    return _changed(tx, space, take(tx, space, id).id, state=FeedbackState.CORRECTED, golden_id=golden_id)


def dismissed(tx: Connection, space: SpaceId, id: str) -> Feedback:
    """Notes that there is nothing to do; again is no error. Raises as ``take`` does."""
    return _changed(tx, space, take(tx, space, id).id, state=FeedbackState.DISMISSED)


def reopen(tx: Connection, space: SpaceId, golden_id: str) -> None:
    """Puts feedback whose golden question is removed back among what an owner has to look at.

    Belongs into the transaction that removes it, since nothing else could correct the answer again.
    """
    became = (_f.space_id == space, _f.golden_id == golden_id)
    tx.execute(update(measuring.feedback).where(*became).values(state=FeedbackState.OPEN, golden_id=None))


def take_out(tx: Connection, space: SpaceId, document_id: DocumentId) -> int:
    """Takes the answers that cite a deleted document out of the feedback on them; how many.

    Belongs into the transaction that deletes it: an answer repeats the document's own words.
    """
    citing = tx.execute(_CITING, {"space": space, "document": document_id}).all()
    instead = _taken_out(document_id)
    for id, stored in citing:
        evidence = _evidence(stored)
        left = None if evidence is None else _without(evidence, [document_id]).model_dump(mode="json")
        tx.execute(_TAKE_OUT, {"space": space, "feedback": id, "instead": instead, "left": left})
    return len(citing)


def _evidence(stored: dict[str, Any] | None) -> Evidence | None:
    return None if stored is None else Evidence.model_validate(stored, extra="ignore")


def _without(evidence: Evidence, gone: Collection[DocumentId]) -> Evidence:
    """Without what was quoted of deleted documents."""
    left = [citation for citation in evidence.citations if citation.document_id not in gone]
    return evidence.model_copy(update={"citations": left})


def _taken_out(document_id: DocumentId) -> str:
    return f"(taken out with document {document_id!r}, which it cited)"


def _deleted(tx: Connection, space: SpaceId, documents: Collection[DocumentId]) -> list[DocumentId]:
    wanted = sorted(set(documents))
    live: set[DocumentId] = set()
    for begin in range(0, len(wanted), PER_QUERY):
        some = _d.id.in_(wanted[begin : begin + PER_QUERY])
        live.update(
            tx.execute(select(_d.id).where(_d.space_id == space, some, _d.live_version_id.is_not(None))).scalars()
        )
    return [document for document in wanted if document not in live]


def _changed(tx: Connection, space: SpaceId, id: str, **values: Any) -> Feedback:
    change = update(measuring.feedback).where(_f.space_id == space, _f.id == id).values(**values).returning(*_COLUMNS)
    return _read(tx.execute(change).one())


def _read(row: Row[*tuple[Any, ...]]) -> Feedback:
    values = dict(row._mapping)
    values["verdict"] = Verdict(values["verdict"])
    values["state"] = FeedbackState(values["state"])
    values["evidence"] = _evidence(values["evidence"])
    return Feedback(**values)
