"""Making an index beside the serving one: from the order to the moment when it could serve.

Each step writes down how far it is, so that a break costs what was embedded since the last step.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from services.shared.catalog import changes, chunks, indexes, jobs, schema, spaces
from services.shared.catalog.chunks import LiveChunk
from services.shared.catalog.index_rows import EmbedderSpec, StoredIndex, WantedEmbedder, collection_of
from services.shared.catalog.job_rows import ACTIVE, JobRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, JobId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexComparison, IndexPhase

NOTHING_INGESTED = "Nothing has been ingested into this space, so there is nothing to index; ingest documents first."

_i, _j = schema.indexes.c, schema.jobs.c


@dataclass(frozen=True)
class Behind:
    """What an index has not followed yet, as one moment saw it: up to change ``seq``, in as many steps."""

    seq: int
    changes: int
    live: list[VersionId]
    dead: list[VersionId]
    more: bool
    """There are later changes."""


def order(
    tx: Connection,
    space: SpaceId,
    wanted: WantedEmbedder,
    *,
    id: IndexId,
    job_id: JobId,
    promote: bool,
    request_id: str,
    now: datetime,
) -> tuple[StoredIndex, JobRow]:
    """Writes an index and the job that builds it down.

    One of the same embedder whose building failed is gone on with; of another embedder, it gives way. Raises
    RagstoneError when nothing was ingested, or one is being built already.
    """
    if spaces.lock(tx, space) is None or indexes.serving(tx, space) is None:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, NOTHING_INGESTED)
    for other in indexes.of_space(tx, space):
        if other.state is not IndexPhase.BUILDING:
            continue
        if other.job_id is not None and _is_active(tx, other.job_id):
            detail = (
                f"Index {other.id} is being built already (with {other.wanted.name}); GET /v1/jobs/{other.job_id}"
                f"/events tells when it is over, DELETE /v1/indexes/{other.id} gives it up."
            )
            raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, detail)
        if _same(other, wanted):
            _change(tx, other.id, promotion="asked" if promote else None)
            job = indexes.order_job(tx, space, other.id, id=job_id, request_id=request_id, now=now)
            return _made(tx, other.id), job
        _change(tx, other.id, state=IndexPhase.RETIRED, promotion=None)
    row: dict[str, Any] = {
        "id": id,
        "space_id": space,
        "state": IndexPhase.BUILDING,
        "embedder": asdict(wanted) | {"revision": "", "dimension": None, "max_tokens": None},
        "collection": collection_of(id),
        "promotion": "asked" if promote else None,
        "created_at": now,
    }
    tx.execute(insert(schema.indexes), row)
    job = indexes.order_job(tx, space, id, id=job_id, request_id=request_id, now=now)
    return _made(tx, id), job


def settle(tx: Connection, index: StoredIndex, spec: EmbedderSpec) -> None:
    """The embedder was loaded: its identity is the index's from here on, and the change log is followed from here.

    Raises RagstoneError when it is the one that fills the serving index already.
    """
    seq = spaces.lock(tx, index.space_id) or 0
    serving = indexes.serving(tx, index.space_id)
    if serving is not None and serving.embedder == spec:
        detail = (
            f"{spec.name} fills the serving index {serving.id} already: the same files (revision "
            f"{spec.revision[:12]}) and the same prompts. Name another embedder or other prompts."
        )
        raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, detail)
    _change(tx, index.id, embedder=asdict(spec), seq=seq)


def chunks_after(tx: Connection, space: SpaceId, after: ChunkId | None, limit: int) -> list[LiveChunk]:
    """The next live chunks by id."""
    return chunks.live_after(tx, space, after or ChunkId(""), limit)


def behind(tx: Connection, index: StoredIndex, limit: int) -> Behind:
    """The next changes that the index has not followed, at most ``limit``: which versions live, and which died."""
    found = changes.since(tx, index.space_id, index.seq, limit)
    named = dict.fromkeys(id for one in found for id in (one.old_version_id, one.version_id) if id is not None)
    sizes = _live_sizes(tx, index.space_id, list(named))
    seq = found[-1].seq if found else index.seq
    return Behind(
        seq=seq,
        changes=len(found),
        live=[id for id in named if id in sizes],
        dead=[id for id in named if id not in sizes],
        more=changes.current_seq(tx, index.space_id) > seq,
    )


def note_built(tx: Connection, index_id: IndexId, *, to: ChunkId | None, vectors: int, truncated: int) -> bool:
    """Live chunks up to ``to`` (None: not one) have their vectors; False when the index is not being built any more."""
    return _while(tx, index_id, IndexPhase.BUILDING, built_to=to, vectors=vectors, truncated=truncated)


def note_followed(tx: Connection, index_id: IndexId, *, seq: int, vectors: int, truncated: int) -> bool:
    """The index is level with the content up to change ``seq``; False when it is to be followed no more."""
    followed = update(schema.indexes).where(
        _i.id == index_id, _i.state.in_((IndexPhase.BUILDING, IndexPhase.READY, IndexPhase.STANDBY))
    )
    return bool(tx.execute(followed.values(seq=seq, vectors=vectors, truncated=truncated)).rowcount)


def ready(tx: Connection, index_id: IndexId, comparison: IndexComparison | None, reason: str | None) -> bool:
    """It could serve from here on; ``reason`` says why it was not compared or will not be promoted by itself.

    False when it was taken out meanwhile, or serves already.
    """
    made = update(schema.indexes).where(_i.id == index_id, _i.state.in_((IndexPhase.BUILDING, IndexPhase.READY)))
    stored = None if comparison is None else comparison.model_dump(mode="json")
    return bool(
        tx.execute(made.values(state=IndexPhase.READY, built_to=None, comparison=stored, reason=reason)).rowcount
    )


def note_pace(tx: Connection, job_id: JobId, index_id: IndexId, chunks_per_s: float) -> None:
    """How quick the building is, kept with its job. Work that gets on kills no worker: attempts count anew."""
    payload = {"index_id": index_id, "pace": round(chunks_per_s, 3)}
    tx.execute(update(schema.jobs).where(_j.id == job_id).values(payload=payload, attempts=1))


def is_held(tx: Connection, job_id: JobId, owner: str) -> bool:
    """Is the job under this owner's lease still?"""
    job = jobs.find(tx, job_id)
    return job is not None and job.lease_owner == owner and job.state in ACTIVE


def _made(tx: Connection, id: IndexId) -> StoredIndex:
    made = indexes.stored(tx, id)
    assert made is not None
    return made


def _same(index: StoredIndex, wanted: WantedEmbedder) -> bool:
    """Is this the embedder that is asked for? A prompt that is left open fits any."""
    prompts = (
        (wanted.query_prompt, index.wanted.query_prompt),
        (wanted.document_prompt, index.wanted.document_prompt),
    )
    return index.wanted.name == wanted.name and all(new is None or new == old for new, old in prompts)


def _is_active(tx: Connection, job_id: JobId) -> bool:
    job = jobs.find(tx, job_id)
    return job is not None and job.state in ACTIVE


def _live_sizes(tx: Connection, space: SpaceId, versions: list[VersionId]) -> set[VersionId]:
    d = schema.documents.c
    live: set[VersionId] = set()
    for begin in range(0, len(versions), chunks.IDS_PER_QUERY):
        named = d.live_version_id.in_(versions[begin : begin + chunks.IDS_PER_QUERY])
        live.update(tx.execute(select(d.live_version_id).where(d.space_id == space, named)).scalars())
    return live


def _while(tx: Connection, index_id: IndexId, state: IndexPhase, **values: Any) -> bool:
    changed = update(schema.indexes).where(_i.id == index_id, _i.state == state).values(**values)
    return bool(tx.execute(changed).rowcount)


def _change(tx: Connection, index_id: IndexId, **values: Any) -> None:
    tx.execute(update(schema.indexes).where(_i.id == index_id).values(**values))
