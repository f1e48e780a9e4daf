"""What sending a folder or a file came to, as it is printed or given to programs."""

from dataclasses import dataclass, field
from typing import Any

from services.local.folder import Skipped


@dataclass(frozen=True)
class Failed:
    """A document that did not make it."""

    document_id: str
    reason: str


@dataclass(frozen=True)
class Warned:
    """A document that made it, with something that its owner should look at."""

    document_id: str
    warning: str


@dataclass
class Report:
    """What one mirrored folder or file came to.

    ``moved`` maps the new id to the former one; ``ignored`` counts files of kinds that are no documents, by extension;
    ``advice`` says what to do about failures that have one cause.
    """

    path: str
    origin: str | None
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    vanished: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    warned: list[Warned] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    advice: str | None = None
    batch: dict[str, Any] | None = None
    dry_run: bool = False
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def idle(self) -> bool:
        """Was there nothing to do, and nothing to say?"""
        return not (self.new or self.changed or self.moved or self.vanished or self.failed or self.interrupted)
