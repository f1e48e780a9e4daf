"""A calibration, top to bottom: make questions of the content, ask the retriever each, fit, put it in force.

What was asked is kept question by question, so that a break costs at most one, and the work makes way for other
jobs: for a document that waits within seconds. Making the questions is one step that nothing interrupts.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import ValidationError

from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.calibration import Finder, Look
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.tools import Tools
from services.shared.contracts.calibration import Calibration, CalibrationRequest
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, SpaceId
from services.shared.contracts.search import WITHOUT_MAX, FusionName
from services.shared.evaluation.calibration.cases import Asked, Case, Kind, Seen
from services.shared.evaluation.calibration.holders import holds
from services.shared.evaluation.calibration.questions import Source, cases_of
from services.shared.evaluation.calibration.summary import Occasion, TooLittle, calibrated, check_enough
from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.rules import drafts_of
from services.shared.evaluation.golden.words import Corpus

DOCUMENTS_MAX = 2_000
PASSAGES_MAX = 4_000
"""Documents and chunks that questions are made of; of a larger space, those that the seed puts first.

Reading and asking by rule takes some 20 seconds for as many.
"""
LEAST_S = 2.0
"""Beginning again costs a fraction of this: the questions are read from the catalog."""
ROUNDS = 4
"""Times a question is asked without its passages, while others turn up that hold its answer."""

MAKE, ASK, FIT = "make", "ask", "fit"
NO_CONTENT = "The space holds nothing to make questions of; ingest documents and calibrate again."
CHANGED = "its passage changed meanwhile"
EVERYWHERE = "its answer stands in too many passages to leave them out"
INDEX_GONE = "The index that was calibrated serves no more; calibrate again for the one that does."


class Calibrate:
    """Runs CALIBRATION jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._content = tools.calibration.content
        self._records = tools.calibration.records

    def run(self, job: ClaimedJob) -> None:
        """Work through the questions until the end or the end of the time slice."""
        tools = self._tools
        with tools.leases.hold([job.id]) as lease:
            try:
                request = _request_of(job)
                with tools.calibration.finder() as finder:
                    self._slice(job, lease, request, finder)
            except TooLittle as error:
                # Nothing is broken: the owner learns why, and what held before stays in force.
                tools.ledger.succeed(job, {"calibrated": False, "why": str(error)}, str(error))
                self._records.forget(job.id)
            except LeaseLost:
                tools.ledger.drop(job)
            except tools.time_up:
                raise
            except Exception as error:
                fail_or_put_off(tools.ledger, job, error, f"calibration {job.id}")

    def _slice(self, job: ClaimedJob, lease: Lease, request: CalibrationRequest, finder: Finder) -> None:
        tools = self._tools
        index = self._content.index(job.space)
        if index is None:
            raise TooLittle(NO_CONTENT)
        if not self._records.planned(job.id):
            self._records.plan(job, self._made(job, lease, request))
        if not self._ask(job, lease, finder, index):
            tools.ledger.release([job])
            tools.bell.ring(job.queue, job.id, job.request_id)
            return
        calibration = self._fitted(job, request, index)
        if not lease.keeps(job.id):
            raise LeaseLost
        if not self._records.store(job, calibration):
            raise TooLittle(INDEX_GONE)
        tools.ledger.succeed(job, _brief(calibration), " ".join(calibration.notes) or None)
        self._records.forget(job.id)

    def _made(self, job: ClaimedJob, lease: Lease, request: CalibrationRequest) -> list[Case]:
        """The questions. Raises TooLittle when there are not enough, before any is asked."""
        progress = Progress(self._tools.ledger, self._tools.clock)
        sources = self._read(job, lease, request.seed)
        corpus = Corpus([source.document for source in sources])
        drafts: list[Draft] = []
        for n, source in enumerate(sources):
            progress.say([ProgressNote(job.id, MAKE, n, len(sources))])
            if not lease.keeps(job.id):
                raise LeaseLost
            drafts += drafts_of(source.document, corpus)
        known = self._content.decided(job.space)
        cases = cases_of(sources, drafts, corpus, request.questions, request.seed, known)
        check_enough(Counter(case.kind for case in cases))
        return cases

    def _read(self, job: ClaimedJob, lease: Lease, seed: int) -> list[Source]:
        sources: list[Source] = []
        passages = 0
        for source in self._content.sources(job.space, seed):
            if not lease.keeps(job.id):
                raise LeaseLost
            sources.append(source)
            passages += len(source.chunk_ids)
            if len(sources) >= DOCUMENTS_MAX or passages >= PASSAGES_MAX:
                break
        return sources

    def _ask(self, job: ClaimedJob, lease: Lease, finder: Finder, index: IndexId) -> bool:
        """Ask what this index was not asked yet; False when the time slice is over before the end."""
        tools = self._tools
        progress = Progress(tools.ledger, tools.clock)
        planned = self._records.planned(job.id)
        waiting = [(n, case) for n, case, seen in planned if seen is None or seen.index_id != index]
        live = self._content.live(job.space, {one for _, case in waiting for one in case.gold})
        began = tools.clock()
        for place, (n, case) in enumerate(waiting):
            progress.say([ProgressNote(job.id, ASK, len(planned) - len(waiting) + place, len(planned))])
            if not lease.keeps(job.id):
                raise LeaseLost
            if live.issuperset(case.gold):
                seen = _seen(finder, job.space, case)
            else:
                seen = Seen(index_id=index, skipped=CHANGED)
            self._records.note(job.id, n, seen)
            if seen.index_id != index:
                # Another index serves by now: it is asked everything anew.
                return False
            if place + 1 < len(waiting) and self._makes_way(tools.clock() - began):
                return False
        tools.ledger.progress([ProgressNote(job.id, FIT, len(planned), len(planned))])
        return True

    def _makes_way(self, worked_s: float) -> bool:
        """After its time slice for any other job; for a document that waits, almost at once."""
        if worked_s > self._tools.rules.time_slice_s:
            return True
        return worked_s > LEAST_S and self._tools.ledger.documents_wait()

    def _fitted(self, job: ClaimedJob, request: CalibrationRequest, index: IndexId) -> Calibration:
        asked = [Asked(case, seen) for _, case, seen in self._records.planned(job.id) if seen is not None]
        occasion = Occasion(
            id=str(job.id),
            index_id=index,
            created_at=self._tools.calibration.now(),
            chunks=self._content.size(job.space),
            risk=request.risk,
            seed=request.seed,
        )
        return calibrated(asked, occasion)


def _seen(finder: Finder, space: SpaceId, case: Case) -> Seen:
    """What the retriever makes of a question; without its answer, where that is to be left out.

    Passages that tell the answer in other words are not known beforehand: those that turn up are left out too, and
    the question is asked once more.
    """
    if case.kind is Kind.ANSWERABLE:
        return _answerable(finder, space, case)
    if case.kind is not Kind.LEFT_OUT:
        return _noted(finder.look(space, case.question, []))
    without = list(case.holders)
    for _ in range(ROUNDS):
        look = finder.look(space, case.question, without)
        more = _holding(case, look)
        if not more:
            return _noted(look)
        without += more
        if len(without) > WITHOUT_MAX:
            break
    return Seen(index_id=_index_of(look), seq=look.seq, skipped=EVERYWHERE)


def _holding(case: Case, look: Look) -> list[ChunkId]:
    """The passages shown that hold the answer."""
    return [
        one.chunk_id
        for one in look.passages
        if one.chunk_id in case.holders or holds(one.text, case.answer, case.facts, case.question)
    ]


def _answerable(finder: Finder, space: SpaceId, case: Case) -> Seen:
    """With how far up each fusion brings the answer: the one that visitors get, and the other."""
    look = finder.look(space, case.question, [])
    reciprocal = {}
    if look.fusion is not None:
        others = [name for name in get_args(FusionName) if name != look.fusion]
        looks = [look, *(finder.look(space, case.question, [], other) for other in others)]
        reciprocal = {str(one.fusion): _reciprocal(one.order, case.holders) for one in looks}
    judged = [p for one, p in look.critics.items() if one in case.holders]
    told = {"critic": max(judged, default=None), "found": bool(_holding(case, look)), "reciprocal": reciprocal}
    return _noted(look).model_copy(update=told)


def _reciprocal(order: Sequence[ChunkId], holders: Sequence[ChunkId]) -> float:
    return next((1 / rank for rank, one in enumerate(order, start=1) if one in holders), 0.0)


def _noted(look: Look) -> Seen:
    return Seen(
        index_id=_index_of(look),
        seq=look.seq,
        features=look.features,
        distance=look.distance,
        coverage=look.coverage,
        critic=max(look.critics.values(), default=None),
    )


def _index_of(look: Look) -> IndexId:
    if look.index_id is None:
        raise TooLittle(NO_CONTENT)
    return look.index_id


def _brief(calibration: Calibration) -> dict[str, Any]:
    """What the job says of its outcome."""
    return {
        "calibrated": True,
        "thresholds": calibration.thresholds.model_dump(mode="json", exclude={"schema_version"}),
        "risk": calibration.risk,
        "expected_risk": calibration.expected_risk,
        "expected_coverage": calibration.expected_coverage,
        "asked": calibration.asked,
    }


def _request_of(job: ClaimedJob) -> CalibrationRequest:
    """What was asked for; a payload may carry more than this version knows."""
    known = {key: value for key, value in job.payload.items() if key in CalibrationRequest.model_fields}
    try:
        return CalibrationRequest.model_validate(known)
    except ValidationError as error:
        detail = "the job's record cannot be read by this version; calibrate again"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error
