"""What making golden questions needs from outside: the live documents, and a place for proposals."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from services.ingestor.ports.jobs import ClaimedJob
from services.shared.contracts.golden import GoldenOrigin, Question
from services.shared.contracts.ids import SpaceId
from services.shared.evaluation.golden.material import SourceDocument


class GoldenContent(Protocol):
    """A space's live documents, and its golden set. Raises RagstoneError (catalog_unavailable)."""

    def documents(self, space: SpaceId, seed: int) -> Iterator[SourceDocument]:
        """Live documents with their chunks, in an order that the seed decides; read one by one."""

    def known(self, job: ClaimedJob) -> list[Question]:
        """Questions of the job's space that it is not to propose again: those that were there before it was sent,
        and those that somebody has decided on. What it proposed itself in an earlier time slice is not among them.
        """

    def propose(self, space: SpaceId, questions: Sequence[Question], origin: GoldenOrigin) -> int:
        """Keep them for the owner to decide on; how many were not known before. Known ones stay as they are."""

    def step(self, job: ClaimedJob) -> tuple[str | None, int]:
        """Stage and number of the job's last progress note, which say where an earlier time slice ended."""

    def made(self, job: ClaimedJob) -> dict[str, int]:
        """Questions that were proposed since the job was sent, by kind."""
