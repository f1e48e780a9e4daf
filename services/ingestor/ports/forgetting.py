"""What taking a deleted document out of everything needs from outside, beside the vectors."""

from collections.abc import Sequence
from typing import Protocol

from services.shared.contracts.evaluation import Evaluation
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId


class Traces(Protocol):
    """Where a deleted document may still be repeated. Every method may be called again, and raises RagstoneError."""

    def discard(self, blobs: Sequence[str]) -> int:
        """Delete those of the originals that nothing needs any more; how many."""

    def empty_bodies(self, space: SpaceId, document_id: DocumentId) -> list[JobId]:
        """Take the document out of bodies of batches that may be read again; the batches to ring for."""

    def forget_answers(self, space: SpaceId, document_id: DocumentId) -> int:
        """Forget remembered answers that rest on it; how many."""

    def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        """Have the retriever come level, and take the versions out of its snapshot."""

    def settle(self) -> bool:
        """Leave nothing of what was deleted in the catalog's files; False when that has to wait."""

    def finished(self, space: SpaceId, evaluation_id: str) -> Evaluation | None:
        """A finished evaluation as it is kept now."""

    def store_reports(self, evaluation: Evaluation, markdown: str, html: str) -> bool:
        """Keep its reports; False when something was taken out of it meanwhile, and they are outdated already."""
