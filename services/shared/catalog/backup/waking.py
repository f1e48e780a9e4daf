"""What a restored catalog is told before anybody works with it: no worker is at anything, and no vector is there."""

import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import Connection, case, update

from services.shared.catalog import chunks, indexes, jobs, schema
from services.shared.catalog.leases import CANCELLED_ON_REQUEST
from services.shared.contracts.ids import JobId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState

VERSIONS_IN_JOB = 300
CHUNKS_IN_JOB = 2000
"""As many as the reconciler gives to one job, so that documents do not wait long."""

_j, _i = schema.jobs.c, schema.indexes.c


def waken(tx: Connection, now: datetime) -> int:
    """Let work that was under way begin again, and order the vectors of what is live; how many those are."""
    _free_jobs(tx, now)
    # What was embedded so far lay in a store that is not in the backup.
    tx.execute(update(schema.indexes).where(_i.state == IndexPhase.BUILDING).values(built_to=None, vectors=0))
    tx.execute(update(schema.indexes).where(_i.state == IndexPhase.READY).values(promotion=None))
    ordered = 0
    for index in indexes.with_collection(tx):
        if index.state is IndexPhase.BUILDING:
            continue
        for share, number in _shares(chunks.live_sizes(tx, index.space_id)):
            ordered += number
            jobs.create(
                tx,
                id=JobId(uuid.uuid4().hex),
                space=index.space_id,
                kind=JobKind.MEND,
                queue=QUEUE_OF[JobKind.MEND],
                document_id=None,
                revision=None,
                payload={"version_ids": share, "index_id": index.id},
                request_id=uuid.uuid4().hex,
                now=now,
                total=len(share),
            )
    return ordered


def _free_jobs(tx: Connection, now: datetime) -> None:
    freed = {
        "state": case((_j.cancel_requested, JobState.CANCELLED.value), else_=JobState.QUEUED.value),
        "reason": case((_j.cancel_requested, CANCELLED_ON_REQUEST), else_=_j.reason),
        "attempts": case((_j.attempts > 0, _j.attempts - 1), else_=0),
        "lease_owner": None,
        "lease_until": None,
        "updated_at": now,
    }
    tx.execute(update(schema.jobs).where(_j.state == JobState.RUNNING).values(freed))
    # The messages that told of them were in Redis.
    tx.execute(update(schema.jobs).where(_j.state == JobState.QUEUED).values(rung_at=None))


def _shares(sizes: Mapping[VersionId, int]) -> Iterator[tuple[list[VersionId], int]]:
    share: list[VersionId] = []
    number = 0
    for version, size in sizes.items():
        if share and (len(share) == VERSIONS_IN_JOB or number + size > CHUNKS_IN_JOB):
            yield share, number
            share, number = [], 0
        share.append(version)
        number += size
    if share:
        yield share, number
