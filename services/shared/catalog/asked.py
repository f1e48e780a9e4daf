"""Questions that are answered later: the jobs that hold them, their answers, and what a deletion takes out of them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, String, and_, cast, or_, select, update

from services.shared.catalog import jobs, quoting, schema, spaces
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.answers import AskRequest
from services.shared.contracts.base import Record
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState
from services.shared.contracts.writing import PUBLIC

CONVERSATION_TAKEN_OUT = "the conversation that came with the question was taken out with a deleted document; ask again"

_j, _ch = schema.jobs.c, schema.changes.c


class AskOrder(Record):
    """The payload of an ASK job."""

    asked: AskRequest | None = None
    """None once it is answered: what was asked is not kept longer than it is needed."""
    key_id: str | None = None
    """The key that asked; None without keys."""
    client: str = PUBLIC
    daily_tokens: int | None = None
    fresh: bool = False
    """Not to be answered with what was given before."""
    documents: list[DocumentId] = Field(default_factory=list)
    """Of an answered question: the documents that its answer rests on, or that were shown with it."""


class Ending(Enum):
    """What became of an answer."""

    KEPT = auto()
    OVERTAKEN = auto()
    """A document that it rests on was deleted while it was written; nothing was kept, and the job still runs."""
    LOST = auto()
    """The job is somebody else's now, or over."""


def create(
    tx: Connection, space: SpaceId, orders: Sequence[tuple[JobId, AskOrder]], request_id: str, now: datetime
) -> list[JobRow]:
    """Writes questions down, one job each, in their order."""
    return [
        jobs.create(
            tx,
            id=id,
            space=space,
            kind=JobKind.ASK,
            queue=QUEUE_OF[JobKind.ASK],
            document_id=None,
            revision=None,
            payload=order.model_dump(mode="json"),
            request_id=request_id,
            now=now,
        )
        for id, order in orders
    ]


def order_of(job: JobRow) -> AskOrder:
    """What was asked for; a newer release may have stored fields that this one does not know."""
    return AskOrder.model_validate(job.payload, extra="ignore")


def answered(
    tx: Connection, job: JobRow, result: dict[str, Any], documents: Collection[DocumentId], since: int, now: datetime
) -> Ending:
    """Ends the job, which its owner still holds, with the answer.

    ``since`` is the space's change number from before anything was searched: what was deleted later is not repeated.
    """
    # Before its job, as everywhere; a deletion that comes later finds the answer.
    spaces.lock(tx, job.space_id)
    removed = and_(_ch.space_id == job.space_id, _ch.seq > since, _ch.kind == "remove")
    if not set(documents).isdisjoint(tx.execute(select(_ch.document_id).where(removed)).scalars()):
        return Ending.OVERTAKEN
    lately = select(_ch.seq).where(_ch.space_id == job.space_id, _ch.kind == "remove", _ch.at >= job.created_at)
    if result.get("rewritten") and tx.execute(lately.limit(1)).first() is not None:
        result = _without_conversation(result)
    if not jobs.succeed(tx, job.id, str(job.lease_owner), result=result, warning=None, now=now):
        return Ending.LOST
    left = order_of(job).model_copy(update={"asked": None, "documents": sorted(documents)})
    tx.execute(update(schema.jobs).where(_j.id == job.id).values(payload=left.model_dump(mode="json")))
    return Ending.KEPT


def take_out(tx: Connection, space: SpaceId, document_id: DocumentId, titles: Collection[str], now: datetime) -> int:
    """Takes answers out that rest on a deleted document, or name one of its titles; how many.

    Conversations go too that came with questions which ended without an answer, and what other answers tell of theirs:
    nobody knows what they repeat. The transaction must hold the space.
    """
    forms = [f'"{form}"' for form in quoting.json_forms(document_id)]
    lines = [form for title in titles for form in quoting.json_forms(f"- {title}")]
    found = or_(
        *(cast(_j.payload, String).contains(form, autoescape=True) for form in forms),
        *(cast(_j.result, String).contains(line, autoescape=True) for line in lines),
        cast(_j.result, String).contains('"rewritten": "'),
        and_(_j.state.in_([JobState.FAILED, JobState.CANCELLED]), cast(_j.payload, String).contains('"history": [')),
    )
    here = (_j.space_id == space, _j.kind == JobKind.ASK)
    answers = 0
    for row in tx.execute(select(_j.id, _j.state, _j.payload, _j.result).where(*here, found)).all():
        order = AskOrder.model_validate(row.payload, extra="ignore")
        change: dict[str, Any] = {}
        if row.result is not None and (document_id in order.documents or _names(row.result, titles)):
            why = f"the answer was taken out with document {document_id!r}, which it rested on; ask again"
            change = {"result": None, "warning": why, "updated_at": now}
            answers += 1
        elif row.result is not None and row.result.get("rewritten"):
            change = {"result": _without_conversation(row.result), "updated_at": now}
        elif row.state in (JobState.FAILED, JobState.CANCELLED) and order.asked is not None and order.asked.history:
            change = {"payload": order.model_copy(update={"asked": None}).model_dump(mode="json")}
        if change:
            tx.execute(update(schema.jobs).where(_j.id == row.id).values(change))
    return answers


def _without_conversation(result: dict[str, Any]) -> dict[str, Any]:
    """An answer without the question that a conversation made whole, its parts and how they were searched for."""
    return {**result, "rewritten": None, "sub_questions": [], "trace": None}


def _names(result: dict[str, Any], titles: Collection[str]) -> bool:
    """Does an answer that declines name one of the titles among the nearest topics?"""
    lines = set(str(result.get("text")).splitlines())
    return any(f"- {title}" in lines for title in titles)
