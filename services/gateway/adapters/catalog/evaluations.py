"""The catalog's evaluations for the public routes."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.shared.catalog import evaluations, golden, jobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.evaluations import Form
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Evaluation, EvaluationList, EvaluationRequest, StartedEvaluation
from services.shared.contracts.golden import GoldenState, Question
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState

LAST = "last"
"""In ``against``: the worker looks for the newest one when it begins."""


class CatalogEvaluations:
    """An evaluation of another space is as unknown as one that never was."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def start(self, space: SpaceId, request: EvaluationRequest, request_id: str) -> StartedEvaluation:
        """The order and its job in one step, with the golden questions of this moment when none are sent."""

        def write() -> StartedEvaluation:
            with self._catalog.write() as tx:
                now = datetime.now(UTC)
                if request.against not in (None, LAST):
                    _check_finished(tx, space, str(request.against))
                questions = _golden_set(tx, space) if request.questions is None else request.questions
                id, job_id = uuid.uuid4().hex, JobId(uuid.uuid4().hex)
                evaluations.create(tx, id=id, job_id=job_id, space=space, request=request, questions=questions, now=now)
                jobs.create(
                    tx,
                    id=job_id,
                    space=space,
                    kind=JobKind.EVALUATION,
                    queue=QUEUE_OF[JobKind.EVALUATION],
                    document_id=None,
                    revision=None,
                    payload={"evaluation_id": id},
                    request_id=request_id,
                    now=now,
                )
                return StartedEvaluation(id=id, job_id=job_id, questions=len(questions))

        return await run_sync(write)

    async def page(self, space: SpaceId, *, limit: int, cursor: str | None) -> EvaluationList:
        """Newest first, finished or not."""

        def read() -> EvaluationList:
            with self._catalog.read() as tx:
                return evaluations.page(tx, space, limit, cursor)

        return await run_sync(read)

    async def one(self, space: SpaceId, id: str) -> Evaluation:
        """The finished whole."""

        def read() -> Evaluation:
            with self._catalog.read() as tx:
                _check_finished(tx, space, id)
                found = evaluations.get(tx, space, id)
            assert found is not None
            return found

        return await run_sync(read)

    async def report(self, space: SpaceId, id: str, form: Form) -> str:
        """The finished report."""

        def read() -> str:
            with self._catalog.read() as tx:
                _check_finished(tx, space, id)
                found = evaluations.report(tx, space, id, form)
            assert found is not None
            return found

        return await run_sync(read)


def _golden_set(tx: Connection, space: SpaceId) -> Sequence[Question]:
    questions = golden.approved(tx, space)
    if questions:
        return questions
    there = golden.counts(tx, space)
    detail = (
        f"The golden set of this space has no question to ask: {there[GoldenState.PROPOSED]} proposed, "
        f"{there[GoldenState.APPROVED]} approved, {there[golden.FLAGGED]} flagged; have questions proposed with "
        "ragstone golden make (POST /v1/golden/make) and approve them, or send questions."
    )
    raise RagstoneError(ErrorCode.GOLDEN_SET_EMPTY, detail)


def _check_finished(tx: Connection, space: SpaceId, id: str) -> None:
    found = evaluations.brief(tx, space, id)
    if found is None:
        detail = f"There is no evaluation {id[:80]!r} in this space; GET /v1/evaluations lists those that there are."
        raise RagstoneError(ErrorCode.EVALUATION_NOT_FOUND, detail)
    if not found.finished:
        raise RagstoneError(
            ErrorCode.JOB_STATE_CONFLICT, f"Evaluation {id} is not finished; {_todo(tx, space, found.job_id)}."
        )


def _todo(tx: Connection, space: SpaceId, job_id: JobId) -> str:
    job = jobs.get(tx, space, job_id)
    if job is None:
        return f"its job {job_id} was forgotten, so start another"
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        return f"its job {job_id} is {job.state} ({job.reason}), and POST /v1/jobs/{job_id}/retry goes on with it"
    return f"its job {job_id} is {job.state}, and GET /v1/jobs/{job_id}/events tells when it is over"
