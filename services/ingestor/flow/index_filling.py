"""Filling an index: every live chunk first, then what changed since, until it is level with the content.

After each group it is written down how far that is. A break loses the vectors of one group at most, and an index that
is half filled is seen by nobody: it does not serve.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingestor.domain.documents import StoredChunk
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.content import EmbeddingStopped, Switched, Target
from services.ingestor.ports.jobs import ClaimedJob, Lease, ProgressNote
from services.ingestor.ports.reembedding import Amounts, Behind, SecondIndex, TakenOut
from services.ingestor.ports.tools import Tools
from services.shared.contracts.ids import ChunkId, IndexId, VersionId
from services.shared.contracts.indexes import IndexPhase

EMBED, FOLLOW = "embed", "follow"
FIRST_GROUP = 16
GROUP_S = 2.0
"""A group is as large as the model embeds in this time, so that others wait no longer and a break costs no more."""
CHANGES = 20
"""Changes that are followed in one step."""
ALWAYS = 256
"""A version of so many chunks is embedded again whatever is there: sent anew, it may be cut otherwise under the same
ids. Of a larger one, what is there is left alone, so that a break in the middle of it is no new beginning."""
LEAST_S = 2.0
"""Beginning again costs a fraction of this."""
PROMOTION_LEAST_S = 6.0
"""Where somebody waits for the promotion, documents wait so long for it."""


@dataclass
class Slice:
    """A time slice of a job: what it works on, and since when."""

    job: ClaimedJob
    lease: Lease
    index: IndexId
    target: Target
    began: float
    amounts: Amounts
    urgent: bool
    pace: float = 0.0
    """Chunks a second, as last measured."""


class Filling:
    """Brings one index level, within one time slice."""

    def __init__(self, tools: Tools, slice: Slice) -> None:
        self._tools = tools
        self._records = tools.reembedding.records
        self._vectors = tools.reembedding.vectors
        self._slice = slice
        self._embedder = tools.embedders.of(slice.target)
        self._progress = Progress(tools.ledger, tools.clock)

    def fill(self, index: SecondIndex) -> bool:
        """Until the index holds all that lives and nothing else; False when the time slice is over before that.

        Raises EmbeddingStopped, LeaseLost, TakenOut.
        """
        building = index.phase is IndexPhase.BUILDING
        if building and not self._embed_all(index.built_to, noted=True):
            return False
        if not self._follow():
            return False
        # Where the vector store lost some, what is missing is made again.
        return self._holds_all() or (self._embed_all(None, noted=building) and self._follow())

    def _holds_all(self) -> bool:
        """As many vectors as chunks; what changes while they are counted is followed later, and no loss."""
        there = self._vectors.count(self._slice.target)
        live = self._records.live_count(self._slice.job.space)
        return there >= live or self._records.behind(self._slice.index, 1).changes > 0

    def keep_going(self) -> None:
        """Raises EmbeddingStopped when the job is not ours any more, or is to be cancelled."""
        if not self._slice.lease.keeps(self._slice.job.id):
            raise EmbeddingStopped

    def makes_way(self) -> bool:
        """After its time slice for any other job; for a document that waits, almost at once."""
        worked_s = self._tools.clock() - self._slice.began
        if worked_s > self._tools.rules.time_slice_s:
            return True
        least_s = PROMOTION_LEAST_S if self._slice.urgent else LEAST_S
        return worked_s > least_s and self._tools.ledger.documents_wait()

    def _embed_all(self, after: ChunkId | None, *, noted: bool) -> bool:
        """Every live chunk behind ``after``, by id, that has no vector; False when the time slice is over."""
        one = self._slice
        done = one.amounts.vectors if after is not None else 0
        truncated = one.amounts.truncated if after is not None else 0
        total = self._records.live_count(one.job.space)
        size = self._group_size()
        while True:
            group = self._records.chunks_after(one.job.space, after, size)
            if not group:
                return True
            self.keep_going()
            self._say(EMBED, done, max(total, done + len(group)))
            embedded, longer = self._embed(group, anew=False)
            # What is there already is passed over in ever longer strides.
            size = self._group_size() if embedded else min(2 * size, self._tools.rules.group_chunks)
            truncated += longer
            done += len(group)
            after = group[-1].item.chunk_id
            one.amounts = Amounts(done, truncated)
            if noted:
                self._records.note_built(one.job, one.index, after, one.amounts, one.pace)
            if self.makes_way():
                return False

    def _follow(self) -> bool:
        """What changed since, step by step; False when the time slice is over before the index is level."""
        one = self._slice
        followed = 0
        while True:
            behind = self._records.behind(one.index, CHANGES)
            if not behind.changes:
                return True
            self.keep_going()
            self._say(FOLLOW, followed, followed + behind.changes)
            truncated = one.amounts.truncated
            for group, anew in self._groups(behind):
                truncated += self._embed(group, anew=anew)[1]
                if not anew and self.makes_way():
                    return False
            if behind.dead:
                self._vectors.delete_versions(one.target, behind.dead)
            one.amounts = Amounts(self._vectors.count(one.target), truncated)
            self._records.note_followed(one.job, one.index, behind.seq, one.amounts)
            followed += behind.changes
            if behind.more and self.makes_way():
                return False

    def _groups(self, behind: Behind) -> list[tuple[list[StoredChunk], bool]]:
        """The chunks of what lives now, small versions together; whether they are to be embedded whatever is there."""
        groups: list[tuple[list[StoredChunk], bool]] = []
        small: list[StoredChunk] = []
        for version in behind.live:
            chunks = self._tools.ledger.live_chunks(self._slice.job.space, version)
            if len(chunks) <= ALWAYS:
                small += chunks
                continue
            size = self._group_size()
            groups += [(chunks[begin : begin + size], False) for begin in range(0, len(chunks), size)]
        size = self._group_size()
        return [*((small[begin : begin + size], True) for begin in range(0, len(small), size)), *groups]

    def _embed(self, group: Sequence[StoredChunk], *, anew: bool) -> tuple[int, int]:
        """Embed and store; how many were embedded, and how many of the group are longer than the embedder reads."""
        tools, one = self._tools, self._slice
        there = set() if anew else tools.vectors.present(one.target, [chunk.item.chunk_id for chunk in group])
        missing = [chunk for chunk in group if chunk.item.chunk_id not in there]
        if missing:
            began = tools.clock()
            vectors = self._embedder.embed(
                [chunk.search_text for chunk in missing], lambda _: one.lease.keeps(one.job.id)
            )
            try:
                tools.vectors.upsert(one.target, [chunk.item for chunk in missing], vectors)
            except Switched as error:
                raise TakenOut from error
            one.pace = _pace(one.pace, len(missing), tools.clock() - began)
            self._forget_dead(sorted({chunk.item.version_id for chunk in missing}))
        prompt = one.target.embedder.document_prompt
        lengths = self._embedder.count_tokens([prompt + chunk.search_text for chunk in group])
        return len(missing), sum(length > self._embedder.max_tokens() for length in lengths)

    def _forget_dead(self, versions: Sequence[VersionId]) -> None:
        """A version may have been replaced or deleted while it was embedded; nothing of it is to stay."""
        needed = self._tools.ledger.needed_versions(self._slice.job.space, versions)
        gone = [version for version in versions if version not in needed]
        if gone:
            self._vectors.delete_versions(self._slice.target, gone)

    def _group_size(self) -> int:
        return max(FIRST_GROUP, min(self._tools.rules.group_chunks, int(self._slice.pace * GROUP_S)))

    def _say(self, stage: str, done: int, total: int) -> None:
        self._progress.say([ProgressNote(self._slice.job.id, stage, done, total)])


def _pace(before: float, chunks: int, seconds: float) -> float:
    """Smoothed, so that one slow group does not shrink the next ones at once."""
    if seconds <= 0:
        return before
    now = chunks / seconds
    return now if before == 0 else (before + now) / 2
