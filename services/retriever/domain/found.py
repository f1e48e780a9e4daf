"""What one search of both indexes brought."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from services.retriever.domain.fusion import Fused
from services.retriever.domain.gate import Evidence, Judgement
from services.retriever.domain.hits import Chunk, Drop, RankedList
from services.retriever.domain.judged import Judged
from services.shared.contracts.ids import ChunkId

CRITIC = "critic"
NOT_LIVE = "not_live"


@dataclass(frozen=True)
class Found:
    """Lists, their one order, and what gate and critic make of them.

    ``fused`` is the whole order; ``chunks`` holds the texts of its first candidates, those that live.
    """

    lists: tuple[RankedList, ...]
    fused: tuple[Fused, ...]
    chunks: Mapping[ChunkId, Chunk]
    drops: tuple[Drop, ...]
    evidence: Evidence
    judgement: Judgement
    judged: Judged | None = None
    relevant: Mapping[ChunkId, float] = field(default_factory=dict)
    """The critic's probability of each candidate that it judged."""
    critic_cut: float = 0.0

    @property
    def head(self) -> list[Fused]:
        """The candidates in fused order."""
        return [one for one in self.fused if one.chunk_id in self.chunks]

    @property
    def relevant_head(self) -> list[Fused]:
        """Those of them that the critic judged and does not hold for irrelevant; all where it did not judge."""
        judged = [one for one in self.head if one.chunk_id in self.relevant] if self.relevant else self.head
        return [one for one in judged if not self._refused(one)]

    @property
    def refused(self) -> list[Fused]:
        """The candidates that the critic holds for irrelevant, in fused order."""
        return [one for one in self.head if self._refused(one)]

    def refusals(self, shown: Collection[ChunkId]) -> list[Drop]:
        """A drop for each of them that is not shown all the same."""
        return [
            Drop(
                one.chunk_id,
                CRITIC,
                f"relevant with probability {self.relevant[one.chunk_id]:.4f}, limit {self.critic_cut:.4f}",
            )
            for one in self.refused
            if one.chunk_id not in shown
        ]

    def _refused(self, one: Fused) -> bool:
        return self.relevant.get(one.chunk_id, 1.0) < self.critic_cut
