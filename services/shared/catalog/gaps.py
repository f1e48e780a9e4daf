"""Questions that the content does not answer: noted, listed, dealt with by owners, forgotten."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, String, and_, cast, delete, func, or_, select, update

from services.shared.catalog import cursors, gap_rows, measuring, quoting, schema, spaces
from services.shared.catalog.gap_rows import SHOWN, Unanswered
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.gaps import Gap, GapList, GapState
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobState

_g, _w = measuring.gaps.c, measuring.gap_wordings.c
_d, _j, _ch = schema.documents.c, schema.jobs.c, schema.changes.c


@dataclass(frozen=True)
class Head:
    """A gap by the question that stands for it."""

    id: str
    question: str


def known(tx: Connection, space: SpaceId, key: str) -> str | None:
    """The gap that has this wording."""
    gap: str | None = tx.execute(select(_w.gap_id).where(_w.space_id == space, _w.key == key)).scalar_one_or_none()
    return gap


def heads(tx: Connection, space: SpaceId) -> list[Head]:
    """All gaps of the space, the heaviest first: dismissed ones too, which must not come back in other words."""
    query = select(_g.id, _g.question).where(_g.space_id == space)
    return [Head(*row) for row in tx.execute(query.order_by(_g.weight.desc(), _g.last_at.desc(), _g.id))]


def note(
    tx: Connection, space: SpaceId, noted: Unanswered, gap: str | None, *, new_id: str, now: datetime
) -> str | None:
    """Counts the question for the gap that has its wording, else for ``gap``, else for a new one; which.

    None for a space that nothing was ever written to. A gap with a fact is open again when the answer saw the fact.
    """
    if spaces.lock(tx, space) is None:
        return None
    mine = known(tx, space, noted.key)
    found = mine or (gap if gap is not None and gap_rows.row_of(tx, space, gap) is not None else None)
    values = _nearest(_live(tx, space, noted.nearest))
    if found is None:
        found = new_id
        gap_rows.insert_gap(tx, space, found, noted.question, values, now)
    elif values or not noted.judged_bad:
        tx.execute(update(measuring.gaps).where(*gap_rows.this(space, found)).values(nearest=values))
    gap_rows.count(tx, space, found, noted, known_wording=mine is not None, now=now)
    gap_rows.settle(tx, space, found)
    row = gap_rows.row_of(tx, space, found)
    assert row is not None
    if row.state == GapState.ANSWERED and _saw_the_fact(tx, space, row, noted.seq):
        gap_rows.change(tx, space, found, state=GapState.OPEN)
    gap_rows.make_room(tx, space)
    return found


def page(
    tx: Connection, space: SpaceId, *, states: Collection[GapState] | None, limit: int, cursor: str | None
) -> GapList:
    """A page, the heaviest first, and how many there are in each state; INVALID_REQUEST for a bad cursor."""
    query = select(*SHOWN).where(_g.space_id == space)
    if states is not None:
        query = query.where(_g.state.in_(list(states)))
    if cursor is not None:
        weight, at, id = cursors.decode_rank("gaps", cursor)
        query = query.where(
            or_(
                _g.weight < weight,
                and_(_g.weight == weight, _g.last_at < at),
                and_(_g.weight == weight, _g.last_at == at, _g.id < id),
            )
        )
    rows = tx.execute(query.order_by(_g.weight.desc(), _g.last_at.desc(), _g.id.desc()).limit(limit + 1)).all()
    shown, more = rows[:limit], len(rows) > limit
    texts = gap_rows.texts_of(tx, space, [row.id for row in shown])
    last = shown[-1] if more else None
    return GapList(
        items=[gap_rows.view(row, texts.get(row.id, [])) for row in shown],
        next_cursor=None if last is None else cursors.encode("gaps", last.weight, last.last_at.isoformat(), last.id),
        counts=_counts(tx, space),
    )


def get(tx: Connection, space: SpaceId, id: str) -> Gap:
    """One gap. Raises GAP_NOT_FOUND."""
    row = gap_rows.row_of(tx, space, id)
    if row is None:
        detail = f"there is no gap {id[:80]!r} in space {space!r}; GET /v1/gaps lists what there is"
        raise RagstoneError(ErrorCode.GAP_NOT_FOUND, detail)
    return gap_rows.view(row, gap_rows.texts_of(tx, space, [id]).get(id, []))


def answered(tx: Connection, space: SpaceId, id: str, document_id: DocumentId, job_id: JobId) -> Gap:
    """Notes the fact that an owner added, and the job that brings it in. Raises GAP_NOT_FOUND."""
    spaces.lock(tx, space)
    get(tx, space, id)
    gap_rows.change(tx, space, id, state=GapState.ANSWERED, document_id=document_id, job_id=job_id)
    return get(tx, space, id)


def dismissed(tx: Connection, space: SpaceId, id: str) -> Gap:
    """Notes that there is nothing to do; again is no error. Raises GAP_NOT_FOUND, GAP_STATE_CONFLICT."""
    spaces.lock(tx, space)
    found = get(tx, space, id)
    if found.state is GapState.ANSWERED:
        detail = f"gap {id} has a fact, document {found.document_id!r}; delete that, or POST /v1/gaps/{id}/reopen first"
        raise RagstoneError(ErrorCode.GAP_STATE_CONFLICT, detail)
    gap_rows.change(tx, space, id, state=GapState.DISMISSED)
    return get(tx, space, id)


def reopened(tx: Connection, space: SpaceId, id: str) -> Gap:
    """Puts it back among what an owner has to look at; again is no error. Raises GAP_NOT_FOUND."""
    spaces.lock(tx, space)
    get(tx, space, id)
    gap_rows.change(tx, space, id, state=GapState.OPEN)
    return get(tx, space, id)


def take_out(tx: Connection, space: SpaceId, document_id: DocumentId) -> None:
    """Takes a deleted document's titles out, and opens the gap again that it was the fact of.

    Belongs into the transaction that deletes it, which holds the space. What visitors asked stays.
    """
    was_fact = (_g.space_id == space, _g.document_id == document_id)
    again = update(measuring.gaps).where(*was_fact)
    tx.execute(again.where(_g.state == GapState.ANSWERED).values(state=GapState.OPEN))
    tx.execute(again.values(document_id=None, job_id=None))
    forms = [f'"{form}"' for form in quoting.json_forms(document_id)]
    naming = or_(*(cast(_g.nearest, String).contains(form, autoescape=True) for form in forms))
    for row in tx.execute(select(_g.id, _g.nearest).where(_g.space_id == space, naming)).all():
        left = [pair for pair in row.nearest if pair[0] != document_id]
        tx.execute(update(measuring.gaps).where(*gap_rows.this(space, row.id)).values(nearest=left))


def prune(tx: Connection, older_than: datetime) -> int:
    """Forgets wordings that nobody used since then, and gaps that have none left; how many wordings."""
    old = select(_w.space_id, _w.gap_id).where(_w.last_at < older_than).distinct()
    touched = tx.execute(old.order_by(_w.space_id, _w.gap_id)).all()
    removed = 0
    for space, gap in touched:
        spaces.lock(tx, space)
        of_gap = (_w.space_id == space, _w.gap_id == gap, _w.last_at < older_than)
        removed += tx.execute(delete(measuring.gap_wordings).where(*of_gap)).rowcount
        gap_rows.settle(tx, space, gap)
    return removed


def _saw_the_fact(tx: Connection, space: SpaceId, gap: Row[*tuple[Any, ...]], seq: int) -> bool:
    """Was the fact live when the question was asked, or will it never be?"""
    state = tx.execute(select(_j.state).where(_j.id == gap.job_id)).scalar_one_or_none()
    if state is not None and state != JobState.SUCCEEDED:
        return state in (JobState.FAILED, JobState.CANCELLED)
    of_fact = (_ch.space_id == space, _ch.document_id == gap.document_id, _ch.kind == "publish")
    live_from: int | None = tx.execute(select(func.max(_ch.seq)).where(*of_fact)).scalar_one()
    return live_from is None or live_from <= seq


def _live(
    tx: Connection, space: SpaceId, documents: Sequence[tuple[DocumentId, str]]
) -> Sequence[tuple[DocumentId, str]]:
    """Without those that were deleted while the question was on its way."""
    ids = [id for id, _ in documents]
    query = select(_d.id).where(_d.space_id == space, _d.id.in_(ids), _d.live_version_id.is_not(None))
    live = set(tx.execute(query).scalars()) if ids else set()
    return [one for one in documents if one[0] in live]


def _nearest(documents: Sequence[tuple[DocumentId, str]]) -> list[list[str]]:
    return [[id, title] for id, title in documents]


def _counts(tx: Connection, space: SpaceId) -> dict[GapState, int]:
    query = select(_g.state, func.count()).where(_g.space_id == space).group_by(_g.state)
    found = {state: int(number) for state, number in tx.execute(query).tuples()}
    return {state: found.get(state, 0) for state in GapState}
