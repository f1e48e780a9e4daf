"""Figures of the whole catalog, over all spaces, for whoever watches it run."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from services.shared.catalog import schema
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, JobState, Queue

_FOLLOWING = (IndexPhase.BUILDING, IndexPhase.READY, IndexPhase.STANDBY)
"""Indexes beside the serving one, which keep level with the content by the change log."""


@dataclass(frozen=True)
class Figures:
    """Numbers of one moment; what there is none of is left out of the tables."""

    jobs: dict[tuple[JobState, JobKind], int]
    waiting: dict[Queue, tuple[int, datetime]]
    """Jobs that wait, and when the oldest of them was made."""
    spaces: int
    documents: int
    """Those that answer."""
    chunks: int
    """Those of staged versions included."""
    lag: dict[IndexPhase, int]
    """Changes that the index which is furthest behind has not followed yet."""


def figures(tx: Connection) -> Figures:
    """All of them. Cheap: they are counted in indexes and in the first columns of rows."""
    jobs, indexes, spaces = schema.jobs.c, schema.indexes.c, schema.spaces.c
    by_state = tx.execute(select(jobs.state, jobs.kind, func.count()).group_by(jobs.state, jobs.kind))
    queued = jobs.state == JobState.QUEUED
    waiting = tx.execute(select(jobs.queue, func.count(), func.min(jobs.created_at)).where(queued).group_by(jobs.queue))
    lag = tx.execute(
        select(indexes.state, func.max(spaces.seq - indexes.seq))
        .join(schema.spaces, spaces.id == indexes.space_id)
        .where(indexes.state.in_(_FOLLOWING))
        .group_by(indexes.state)
    )
    live = select(func.count()).where(schema.documents.c.live_version_id.is_not(None))
    return Figures(
        jobs={(JobState(state), JobKind(kind)): number for state, kind, number in by_state},
        waiting={Queue(queue): (number, oldest) for queue, number, oldest in waiting},
        spaces=tx.execute(select(func.count()).select_from(schema.spaces)).scalar_one(),
        documents=tx.execute(live).scalar_one(),
        chunks=tx.execute(select(func.count()).select_from(schema.chunks)).scalar_one(),
        lag={IndexPhase(state): behind for state, behind in lag},
    )
