"""Rows of gaps and of their wordings. A gap's own question, counts and times follow from its wordings."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from services.shared.catalog import measuring
from services.shared.contracts.gaps import Gap, GapState
from services.shared.contracts.ids import DocumentId, SpaceId

WORDINGS_A_SPACE = 2000
"""More than these, and the gaps of the least weight go."""
WORDINGS_A_GAP = 20
"""A further one counts for the gap's question without being kept."""
OTHERS_SHOWN = 10
JUDGED_BAD_WEIGHS = 3
"""A bad answer counts as much as so many questions without one."""

_g, _w = measuring.gaps.c, measuring.gap_wordings.c
SHOWN = [column for column in _g if column.name != "space_id"]


@dataclass(frozen=True)
class Unanswered:
    """A question without an answer (or with a bad one) on its way into the record."""

    question: str
    key: str
    """Names its wording."""
    nearest: Sequence[tuple[DocumentId, str]]
    """Documents that were found nearest, with their titles."""
    seq: int
    """The space's change number that the answer saw."""
    judged_bad: bool


def insert_gap(tx: Connection, space: SpaceId, id: str, question: str, nearest: list[list[str]], now: datetime) -> None:
    """A gap without a wording yet."""
    row = {
        "space_id": space,
        "id": id,
        "question": question,
        "state": GapState.OPEN,
        "asked": 0,
        "judged_bad": 0,
        "weight": 0,
        "nearest": nearest,
        "document_id": None,
        "job_id": None,
        "first_at": now,
        "last_at": now,
    }
    tx.execute(insert(measuring.gaps), row)


def count(tx: Connection, space: SpaceId, gap: str, noted: Unanswered, *, known_wording: bool, now: datetime) -> None:
    """Counts a question for its wording, which is kept if there is room for it."""
    asked, bad = int(not noted.judged_bad), int(noted.judged_bad)
    key = noted.key
    if not known_wording:
        mine = select(_w.key).where(_w.space_id == space, _w.gap_id == gap)
        keys = tx.execute(mine.order_by(_w.asked.desc(), _w.judged_bad.desc(), _w.first_at, _w.key)).scalars().all()
        if len(keys) >= WORDINGS_A_GAP:
            key = keys[0]
        else:
            row = {"space_id": space, "key": key, "gap_id": gap, "text": noted.question}
            counts = {"asked": asked, "judged_bad": bad, "first_at": now, "last_at": now}
            tx.execute(insert(measuring.gap_wordings), row | counts)
            return
    more = {"asked": _w.asked + asked, "judged_bad": _w.judged_bad + bad, "last_at": now}
    tx.execute(update(measuring.gap_wordings).where(_w.space_id == space, _w.key == key).values(more))


def settle(tx: Connection, space: SpaceId, gap: str) -> None:
    """Makes the gap say what its wordings do; without any it goes."""
    mine = (_w.space_id == space, _w.gap_id == gap)
    most = select(_w.text).where(*mine).order_by(_w.asked.desc(), _w.judged_bad.desc(), _w.first_at, _w.key).limit(1)
    question = tx.execute(most).scalar_one_or_none()
    if question is None:
        tx.execute(delete(measuring.gaps).where(*this(space, gap)))
        return
    sums = select(func.sum(_w.asked), func.sum(_w.judged_bad), func.min(_w.first_at), func.max(_w.last_at))
    asked, bad, first, last = tx.execute(sums.where(*mine)).one()
    change(
        tx,
        space,
        gap,
        question=question,
        asked=int(asked),
        judged_bad=int(bad),
        weight=int(asked) + JUDGED_BAD_WEIGHS * int(bad),
        first_at=first,
        last_at=last,
    )


def make_room(tx: Connection, space: SpaceId) -> None:
    """Forgets the gaps of the least weight while the space has too many wordings."""
    over = tx.execute(select(func.count()).where(_w.space_id == space)).scalar_one() - WORDINGS_A_SPACE
    while over > 0:
        weakest = select(_g.id).where(_g.space_id == space).order_by(_g.weight, _g.last_at, _g.id).limit(1)
        gap = tx.execute(weakest).scalar_one()
        over -= tx.execute(select(func.count()).where(_w.space_id == space, _w.gap_id == gap)).scalar_one()
        tx.execute(delete(measuring.gaps).where(*this(space, gap)))


def texts_of(tx: Connection, space: SpaceId, gaps: Collection[str]) -> dict[str, list[str]]:
    """The wordings of each gap, most frequent first."""
    query = select(_w.gap_id, _w.text).where(_w.space_id == space, _w.gap_id.in_(list(gaps)))
    found: dict[str, list[str]] = {}
    for gap, text in tx.execute(query.order_by(_w.asked.desc(), _w.judged_bad.desc(), _w.first_at, _w.key)):
        found.setdefault(gap, []).append(text)
    return found


def this(space: SpaceId, id: str) -> tuple[Any, ...]:
    """What finds one gap."""
    return (_g.space_id == space, _g.id == id)


def row_of(tx: Connection, space: SpaceId, id: str) -> Row[*tuple[Any, ...]] | None:
    """One gap as it is stored."""
    return tx.execute(select(*SHOWN).where(*this(space, id))).one_or_none()


def change(tx: Connection, space: SpaceId, id: str, **values: Any) -> None:
    """Sets columns of one gap."""
    tx.execute(update(measuring.gaps).where(*this(space, id)).values(**values))


def view(row: Row[*tuple[Any, ...]], texts: Sequence[str]) -> Gap:
    """The gap as clients see it."""
    return Gap(
        id=row.id,
        question=row.question,
        others=[text for text in texts if text != row.question][:OTHERS_SHOWN],
        asked=row.asked,
        judged_bad=row.judged_bad,
        state=GapState(row.state),
        nearest=list(dict.fromkeys(title for _, title in row.nearest)),
        document_id=row.document_id,
        first_at=row.first_at,
        last_at=row.last_at,
    )
