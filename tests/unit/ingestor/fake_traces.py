"""A fake of what may repeat a deleted document."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Evaluation
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId


@dataclass
class FakeTraces:
    """Notes what it was asked for, in order; ``away`` names what does not answer."""

    said: list[tuple[str, Any]] = field(default_factory=list)
    away: dict[str, ErrorCode] = field(default_factory=dict)
    batches: list[JobId] = field(default_factory=list)
    settles: bool = True
    evaluation: Callable[[], Evaluation | None] = lambda: None
    reports: list[tuple[str, str]] = field(default_factory=list)
    outdated: int = 0
    """Times that an evaluation was changed while its reports were made."""

    def discard(self, blobs: Sequence[str]) -> int:
        self._say("discard", list(blobs))
        return len(blobs)

    def empty_bodies(self, space: SpaceId, document_id: DocumentId) -> list[JobId]:
        self._say("empty_bodies", document_id)
        return self.batches

    def forget_answers(self, space: SpaceId, document_id: DocumentId) -> int:
        self._say("forget_answers", document_id)
        return 0

    def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        self._say("forget_postings", list(versions))

    def settle(self) -> bool:
        self._say("settle", None)
        return self.settles

    def finished(self, space: SpaceId, evaluation_id: str) -> Evaluation | None:
        self._say("finished", evaluation_id)
        return self.evaluation()

    def store_reports(self, evaluation: Evaluation, markdown: str, html: str) -> bool:
        if self.outdated:
            self.outdated -= 1
            return False
        self.reports.append((markdown, html))
        return True

    def _say(self, name: str, value: object) -> None:
        self.said.append((name, value))
        if name in self.away:
            raise RagstoneError(self.away[name], f"{name} does not answer")
