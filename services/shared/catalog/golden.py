"""Golden questions: what owners import, decide and see. This module is the room's door for them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from services.shared.catalog import cursors, feedback, golden_spans, measuring, spaces
from services.shared.catalog.golden_spans import PER_QUERY, follow, follow_live
from services.shared.contracts.golden import (
    MADE_OF,
    GoldenImported,
    GoldenIn,
    GoldenList,
    GoldenOrigin,
    GoldenQuestion,
    GoldenState,
    Question,
)
from services.shared.contracts.ids import DocumentId, SpaceId

__all__ = ["FLAGGED", "approved", "counts", "follow", "follow_live", "get", "page", "propose", "put", "remove"]

FLAGGED = "flagged"
"""Beside the states in ``counts``."""

_g = measuring.golden.c
_SHOWN = select(_g.id, _g.question, _g.state, _g.origin, _g.flagged, _g.updated_at)


def put(
    tx: Connection, space: SpaceId, items: Sequence[GoldenIn], origin: GoldenOrigin, now: datetime
) -> GoldenImported:
    """Adds or replaces questions by their ids; the last of two with one id counts.

    A question whose state alone changes keeps its origin: an owner who approves it did not write it.
    """
    spaces.make_and_lock(tx, space, now)
    sent = {item.question.id: item for item in items}
    faults = golden_spans.faults(tx, space, _named(item.question for item in sent.values()))
    known = _known(tx, space, sent)
    rows: list[dict[str, Any]] = []
    replaced = 0
    for id, item in sent.items():
        stored = known.get(id)
        same = stored is not None and stored.question == item.question
        if stored is not None and same and stored.state is item.state:
            continue
        replaced += stored is not None
        kept = stored.origin if stored is not None and same else origin
        rows.append(_row(space, item.question, item.state, kept, faults, now))
    _write(tx, space, rows, [item.question for item in sent.values()], faults)
    return GoldenImported(
        added=len(rows) - replaced,
        replaced=replaced,
        unchanged=len(sent) - len(rows),
        flagged=sum(golden_spans.first_fault(item.question, faults) is not None for item in sent.values()),
    )


def propose(tx: Connection, space: SpaceId, questions: Sequence[Question], origin: GoldenOrigin, now: datetime) -> int:
    """Adds questions for an owner to decide on; how many. A known id is left as it is, whatever was decided.

    One that was made of a document that was deleted meanwhile is left out: it repeats what should be forgotten.
    """
    spaces.make_and_lock(tx, space, now)
    sent = {question.id: question for question in questions}
    known = _known(tx, space, sent)
    made_of = {question.id: _made_of(question) for question in sent.values() if question.id not in known}
    live = golden_spans.live(tx, space, {document for documents in made_of.values() for document in documents})
    fresh = [sent[id] for id, documents in made_of.items() if documents <= live]
    faults = golden_spans.faults(tx, space, _named(fresh))
    rows = [_row(space, question, GoldenState.PROPOSED, origin, faults, now) for question in fresh]
    _write(tx, space, rows, fresh, faults)
    return len(fresh)


def get(tx: Connection, space: SpaceId, id: str) -> GoldenQuestion | None:
    """One question of the space's golden set."""
    row = tx.execute(_SHOWN.where(_g.space_id == space, _g.id == id)).one_or_none()
    return None if row is None else _read(row)


def page(
    tx: Connection,
    space: SpaceId,
    *,
    states: Collection[GoldenState] | None,
    flagged: bool | None,
    limit: int,
    cursor: str | None,
) -> GoldenList:
    """A page by id, with the counts of all of the space's questions; INVALID_REQUEST for a bad cursor."""
    query = _SHOWN.where(_g.space_id == space)
    if states is not None:
        query = query.where(_g.state.in_(list(states)))
    if flagged is not None:
        query = query.where(_g.flagged.is_not(None) if flagged else _g.flagged.is_(None))
    if cursor is not None:
        query = query.where(_g.id > cursors.decode_text("golden", cursor))
    found = tx.execute(query.order_by(_g.id).limit(limit + 1)).all()
    shown = [_read(row) for row in found[:limit]]
    following = cursors.encode("golden", shown[-1].question.id) if len(found) > limit else None
    return GoldenList(items=shown, next_cursor=following, counts=counts(tx, space))


def counts(tx: Connection, space: SpaceId) -> dict[str, int]:
    """Questions by state, every state present, and flagged ones of any state under ``flagged``."""
    by_state = select(_g.state, func.count(), func.count(_g.flagged)).where(_g.space_id == space).group_by(_g.state)
    found = tx.execute(by_state).all()
    none = {**{state.value: 0 for state in GoldenState}, FLAGGED: 0}
    return none | {state: number for state, number, _ in found} | {FLAGGED: sum(flags for _, _, flags in found)}


def approved(tx: Connection, space: SpaceId) -> list[Question]:
    """What an evaluation asks: approved, and not flagged; by id."""
    asked = (_g.space_id == space, _g.state == GoldenState.APPROVED, _g.flagged.is_(None))
    return [_question(stored) for stored in tx.execute(select(_g.question).where(*asked).order_by(_g.id)).scalars()]


def remove(tx: Connection, space: SpaceId, id: str) -> bool:
    """Forgets a question; False when there was none. Feedback that became it is open again."""
    spaces.lock(tx, space)
    feedback.reopen(tx, space, id)
    return bool(tx.execute(delete(measuring.golden).where(_g.space_id == space, _g.id == id)).rowcount)


def _known(tx: Connection, space: SpaceId, ids: Collection[str]) -> dict[str, GoldenQuestion]:
    wanted = list(ids)
    found: dict[str, GoldenQuestion] = {}
    for begin in range(0, len(wanted), PER_QUERY):
        some = _g.id.in_(wanted[begin : begin + PER_QUERY])
        found.update((row.id, _read(row)) for row in tx.execute(_SHOWN.where(_g.space_id == space, some)))
    return found


def _write(
    tx: Connection,
    space: SpaceId,
    rows: Sequence[dict[str, Any]],
    questions: Collection[Question],
    faults: dict[golden_spans.Named, str],
) -> None:
    if not rows:
        return
    ids = [row["id"] for row in rows]
    for begin in range(0, len(ids), PER_QUERY):
        some = _g.id.in_(ids[begin : begin + PER_QUERY])
        tx.execute(delete(measuring.golden).where(_g.space_id == space, some))
    tx.execute(insert(measuring.golden), rows)
    written = set(ids)
    golden_spans.write(tx, space, [question for question in questions if question.id in written], faults)


def _row(
    space: SpaceId,
    question: Question,
    state: GoldenState,
    origin: GoldenOrigin,
    faults: dict[golden_spans.Named, str],
    now: datetime,
) -> dict[str, Any]:
    return {
        "space_id": space,
        "id": question.id,
        "question": question.model_dump(mode="json"),
        "state": state,
        "origin": origin,
        "flagged": golden_spans.first_fault(question, faults),
        "updated_at": now,
    }


def _named(questions: Iterable[Question]) -> set[golden_spans.Named]:
    return {(span.document_id, span.quote) for question in questions for span in question.gold}


def _made_of(question: Question) -> set[DocumentId]:
    tagged = {DocumentId(tag.removeprefix(MADE_OF)) for tag in question.tags if tag.startswith(MADE_OF)}
    return tagged | {span.document_id for span in question.gold}


def _question(stored: dict[str, Any]) -> Question:
    # A newer release may have stored fields that this one does not know.
    return Question.model_validate(stored, extra="ignore")


def _read(row: Row[*tuple[Any, ...]]) -> GoldenQuestion:
    return GoldenQuestion(
        question=_question(row.question),
        state=GoldenState(row.state),
        origin=GoldenOrigin(row.origin),
        flagged=row.flagged,
        updated_at=row.updated_at,
    )
