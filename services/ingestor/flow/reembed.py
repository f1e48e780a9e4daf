"""An index beside the serving one, top to bottom: load its embedder, fill it, follow the content until it is level,
compare it with the one that serves, and let it serve if that is wished for.

Every job for an index does what is left to do of this. What has its vectors is never embedded again, long work makes
way for others, and the job of an index that was taken out deletes its vectors.
"""

from typing import Any

from services.ingestor.flow.index_comparing import NO_QUESTIONS, Comparing
from services.ingestor.flow.index_filling import Filling, Slice
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.ports.content import EmbeddingStopped, Target
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.reembedding import Amounts, Promoted, SecondIndex, TakenOut
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId
from services.shared.contracts.indexes import IndexPhase

LOAD, PROMOTE, REMOVE = "load", "promote", "remove"
UNUSABLE = frozenset({ErrorCode.MODEL_UNAVAILABLE, ErrorCode.INDEX_STATE_CONFLICT})
"""What an embedder that is asked for by name fails with at once: trying again would not help."""


class Reembed:
    """Runs REEMBED jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._records = tools.reembedding.records

    def run(self, job: ClaimedJob) -> None:
        """Do what is left to do for the index, to its end or the end of the time slice."""
        tools = self._tools
        index_id = IndexId(str(job.payload.get("index_id")))
        with tools.leases.hold([job.id]) as lease:
            try:
                self._work(job, lease, index_id)
            except (EmbeddingStopped, LeaseLost):
                # What was stored stays, and the next attempt goes on behind it.
                tools.ledger.drop(job)
            except tools.time_up:
                raise
            except Exception as error:
                fail_or_put_off(tools.ledger, job, error, f"index {index_id}")

    def _work(self, job: ClaimedJob, lease: Lease, index_id: IndexId) -> None:
        try:
            index = self._records.find(index_id)
            if index is None or index.phase in (IndexPhase.RETIRED, IndexPhase.SERVING):
                self._nothing_to_build(job, index_id, index)
                return
            index = self._settled(job, index)
            if index is not None and index.target is not None:
                self._slice(job, lease, index, index.target)
        except TakenOut:
            self._nothing_to_build(job, index_id, self._records.find(index_id))

    def _settled(self, job: ClaimedJob, index: SecondIndex) -> SecondIndex | None:
        """The index with its embedder known; None, and the job failed, when that cannot be."""
        if index.target is not None:
            return index
        self._tools.ledger.progress([ProgressNote(job.id, LOAD, 0, self._records.live_count(index.space))])
        try:
            self._records.settle(job, index)
        except RagstoneError as error:
            if error.code not in UNUSABLE:
                raise
            self._tools.ledger.fail(job, f"index {index.id} is not built: {error.detail}")
            return None
        return self._records.find(index.id)

    def _slice(self, job: ClaimedJob, lease: Lease, index: SecondIndex, target: Target) -> None:
        tools = self._tools
        amounts = Amounts(index.vectors, index.truncated)
        urgent = index.promotion is not None and index.phase is not IndexPhase.BUILDING
        one = Slice(job, lease, index.id, target, tools.clock(), amounts, urgent)
        filling = Filling(tools, one)
        if not filling.fill(index):
            self._make_way(job)
            return
        if index.phase is not IndexPhase.STANDBY and index.comparison is None:
            self._compare(one, filling)
        promoted = self._promoted(one, filling)
        if promoted is None:
            self._make_way(job)
            return
        for ring in promoted.rings:
            tools.bell.ring(*ring)
        tools.ledger.succeed(job, self._outcome(index.id, one.amounts), promoted.why)

    def _compare(self, one: Slice, filling: Filling) -> None:
        serving = self._records.serving(one.job.space)
        comparison = None if serving is None else Comparing(self._tools, one, filling).compare(serving)
        self._records.ready(one.job, one.index, comparison, NO_QUESTIONS if comparison is None else None)

    def _promoted(self, one: Slice, filling: Filling) -> Promoted | None:
        """What became of the wish to promote it, if there is one; None when the time slice is over before."""
        while True:
            promoted = self._records.promote(one.job, one.index)
            if promoted.outcome != "behind":
                return promoted
            self._tools.ledger.progress([ProgressNote(one.job.id, PROMOTE, one.amounts.vectors, None)])
            index = self._records.find(one.index)
            if index is None:
                raise TakenOut
            one.urgent = True
            if not filling.fill(index) or filling.makes_way():
                return None

    def _nothing_to_build(self, job: ClaimedJob, index_id: IndexId, index: SecondIndex | None) -> None:
        """The index serves already, or was taken out: then its vectors are deleted, and its record last."""
        if index is not None and index.phase is IndexPhase.SERVING:
            self._tools.ledger.succeed(job, {"index_id": index_id, "state": index.phase}, None)
            return
        if index is not None:
            self._tools.ledger.progress([ProgressNote(job.id, REMOVE, 0, None)])
            self._tools.reembedding.vectors.drop(index_id)
            self._records.forget(index_id)
        self._tools.ledger.succeed(job, {"index_id": index_id, "state": IndexPhase.RETIRED}, None)

    def _make_way(self, job: ClaimedJob) -> None:
        self._tools.ledger.release([job])
        self._tools.bell.ring(job.queue, job.id, job.request_id)

    def _outcome(self, index_id: IndexId, amounts: Amounts) -> dict[str, Any]:
        index = self._records.find(index_id)
        return {
            "index_id": index_id,
            "state": IndexPhase.RETIRED if index is None else index.phase,
            "vectors": amounts.vectors,
            "truncated": amounts.truncated,
            "worse": index.comparison.worse if index is not None and index.comparison is not None else None,
        }
