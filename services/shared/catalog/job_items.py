"""The documents of a batch, each with its own outcome."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from services.shared.catalog import cursors, schema
from services.shared.catalog.upserts import upserting
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobItem, JobState

_i = schema.job_items.c
_OUTCOME = ("document_id", "state", "unchanged", "reason")


def add_items(tx: Connection, job_id: JobId, items: Sequence[JobItem]) -> None:
    """Records many outcomes at once; one that is recorded already is overwritten."""
    if not items:
        return
    rows = [
        {
            "job_id": job_id,
            "n": item.n,
            "document_id": item.document_id,
            "state": item.state,
            "unchanged": item.unchanged,
            "reason": item.reason,
        }
        for item in items
    ]
    upsert = upserting(tx, schema.job_items)
    tx.execute(
        upsert.on_conflict_do_update(
            index_elements=["job_id", "n"], set_={name: upsert.excluded[name] for name in _OUTCOME}
        ),
        rows,
    )


def set_item(
    tx: Connection,
    job_id: JobId,
    n: int,
    *,
    document_id: DocumentId | None,
    state: JobState,
    unchanged: bool,
    reason: str | None,
) -> None:
    """Records the outcome of line ``n``, or overwrites it."""
    add_items(tx, job_id, [JobItem(n=n, document_id=document_id, state=state, unchanged=unchanged, reason=reason)])


def drop_item(tx: Connection, job_id: JobId, n: int) -> None:
    """Takes the outcome of line ``n`` back, as if it had not been worked on."""
    tx.execute(delete(schema.job_items).where(_i.job_id == job_id, _i.n == n))


def items(
    tx: Connection, job_id: JobId, *, limit: int, cursor: str | None, states: Sequence[JobState] | None = None
) -> tuple[list[JobItem], str | None]:
    """A page of the batch's lines in their order, and the next cursor; INVALID_REQUEST for a bad cursor."""
    query = select(_i.n, *(_i[name] for name in _OUTCOME)).where(_i.job_id == job_id)
    if cursor is not None:
        query = query.where(_i.n > cursors.decode_number("items", cursor))
    if states is not None:
        query = query.where(_i.state.in_(list(states)))
    found = [JobItem(**row._mapping) for row in tx.execute(query.order_by(_i.n).limit(limit + 1))]
    page = found[:limit]
    return page, cursors.encode("items", page[-1].n) if len(found) > limit else None


def item_counts(tx: Connection, job_id: JobId) -> dict[JobState, int]:
    """Recorded lines of the batch by state, every state present."""
    found = tx.execute(select(_i.state, func.count()).where(_i.job_id == job_id).group_by(_i.state))
    return dict.fromkeys(JobState, 0) | {JobState(state): number for state, number in found}


def last_item(tx: Connection, job_id: JobId) -> int:
    """The highest line recorded, 0 when none: where a batch goes on after a break."""
    return tx.execute(select(func.max(_i.n)).where(_i.job_id == job_id)).scalar_one() or 0
