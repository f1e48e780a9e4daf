"""What else in the catalog repeats a document's words; it goes in the transaction that deletes the document.

Ids stay: they name what was deleted, and no text follows from them.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, String, and_, case, cast, delete, or_, select, update

from services.shared.catalog import asked, feedback, gaps, golden_spans, measuring, quoting, schema
from services.shared.catalog.blob_use import named_blobs
from services.shared.catalog.job_rows import ACTIVE
from services.shared.catalog.redaction import Gone, without_quotes
from services.shared.contracts.golden import MADE_OF, GoldenOrigin, Question
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState

_j, _i = schema.jobs.c, schema.job_items.c
_g, _s, _k = measuring.golden.c, measuring.golden_spans.c, measuring.calibration_cases.c

_MADE = (GoldenOrigin.RULE, GoldenOrigin.MODEL)
SOME_FAILED = "some of its documents failed; the job's items name them"


@dataclass(frozen=True)
class Traces:
    """What taking a document's words out led to."""

    cancelled_jobs: list[JobId]
    blobs: list[str]
    """Originals that its jobs named, and bodies of batches that it came in by and that are over."""
    reports: list[str]
    """Finished evaluations whose reports have to be made anew."""
    answers: int
    """Answers to questions that were asked for later."""


def take_out(tx: Connection, space: SpaceId, document_id: DocumentId, titles: Collection[str], now: datetime) -> Traces:
    """Take a document's words out of jobs and their answers, golden questions, feedback, evaluations, calibrations.

    ``titles`` are those that its versions had. The transaction must hold the space.
    """
    gone = Gone([document_id], titles)
    cancelled, blobs = _jobs(tx, space, document_id, now)
    blobs += _batches(tx, space, document_id)
    _golden(tx, space, document_id, gone)
    golden_spans.follow(tx, space, document_id, None)
    feedback.take_out(tx, space, document_id)
    gaps.take_out(tx, space, document_id)
    _calibrations(tx, space, document_id)
    answers = asked.take_out(tx, space, document_id, titles, now)
    return Traces(cancelled, blobs, quoting.take_out(tx, space, gone), answers)


def reason(document_id: DocumentId) -> str:
    """What its jobs say from now on."""
    return f"document {document_id!r} was deleted"


def _jobs(tx: Connection, space: SpaceId, document_id: DocumentId, now: datetime) -> tuple[list[JobId], list[str]]:
    """Stop the document's jobs and empty them; those that were under way, and the originals that they named."""
    mine = (_j.space_id == space, _j.document_id == document_id, _j.kind == JobKind.DOCUMENT)
    sent = tx.execute(select(_j.id, _j.state, _j.payload).where(*mine).order_by(_j.created_at, _j.id)).all()
    change, why = update(schema.jobs).where(*mine), reason(document_id)
    tx.execute(change.where(_j.state == JobState.QUEUED).values(state=JobState.CANCELLED, updated_at=now))
    tx.execute(change.where(_j.state == JobState.RUNNING).values(cancel_requested=True, updated_at=now))
    told = case((_j.state == JobState.SUCCEEDED, None), else_=why)
    tx.execute(change.values(payload={}, warning=None, reason=told))
    stopped = [JobId(job.id) for job in sent if job.state in ACTIVE]
    return stopped, [sha256 for job in sent for sha256 in named_blobs(job.payload)]


def _batches(tx: Connection, space: SpaceId, document_id: DocumentId) -> list[str]:
    """Empty what batches say of the document; the bodies of those that are over and that nobody will read again."""
    of_space = and_(_j.id == _i.job_id, _j.space_id == space)
    its = select(_i.job_id, _i.n, _i.state, _i.reason, _j.state.label("job_state"), _j.payload)
    rows = tx.execute(its.join_from(schema.job_items, schema.jobs, of_space).where(_i.document_id == document_id)).all()
    for row in rows:
        if row.reason is not None:
            this = (_i.job_id == row.job_id, _i.n == row.n)
            tx.execute(update(schema.job_items).where(*this).values(reason=reason(document_id)))
        if row.state == JobState.FAILED:
            warned = (_j.id == row.job_id, _j.warning.is_not(None))
            tx.execute(update(schema.jobs).where(*warned).values(warning=SOME_FAILED))
    return [sha256 for row in rows if row.job_state == JobState.SUCCEEDED for sha256 in named_blobs(row.payload)]


def _golden(tx: Connection, space: SpaceId, document_id: DocumentId, gone: Gone) -> None:
    """A question that was made of the document goes; an owner's or a visitor's own stays, without the answer."""
    naming = select(_s.golden_id).where(_s.space_id == space, _s.document_id == document_id)
    tags = [f'"{MADE_OF}{form}"' for form in quoting.json_forms(document_id)]
    made_of_it = or_(*(cast(_g.question, String).contains(tag, autoescape=True) for tag in tags))
    touched = or_(_g.id.in_(naming), and_(_g.origin.in_(_MADE), made_of_it))
    rows = tx.execute(select(_g.id, _g.origin, _g.question).where(_g.space_id == space, touched)).all()
    for row in rows:
        this = and_(_g.space_id == space, _g.id == row.id)
        if row.origin in _MADE:
            tx.execute(delete(measuring.golden).where(this))
            continue
        question = without_quotes(Question.model_validate(row.question, extra="ignore"), gone)
        left = question.model_copy(update={"expected": None, "facts": [], "needed": None, "must_not": []})
        tx.execute(update(measuring.golden).where(this).values(question=left.model_dump(mode="json")))
    spans = (_s.space_id == space, _s.document_id == document_id)
    tx.execute(update(measuring.golden_spans).where(*spans).values(quote=None))


def _calibrations(tx: Connection, space: SpaceId, document_id: DocumentId) -> None:
    """Drop questions that were made of the document, and are to be asked or wait for the others."""
    here = select(_j.id).where(_j.space_id == space, _j.kind == JobKind.CALIBRATION)
    form = f'"document_id": {json.dumps(document_id)}'
    its = (_k.job_id.in_(here), cast(_k.asked, String).contains(form, autoescape=True))
    tx.execute(delete(measuring.calibration_cases).where(*its))
