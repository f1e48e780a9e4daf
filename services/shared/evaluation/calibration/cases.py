"""What a calibration asks, and what the retriever makes of it."""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Record
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId


class Kind(StrEnum):
    """Why a question is answerable or not."""

    ANSWERABLE = "answerable"
    """Made of a passage, and asked as it is."""
    LEFT_OUT = "left_out"
    """The same question, with every passage that holds its answer left out."""
    NEAR_MISS = "near_miss"
    """About a name or code that occurs nowhere."""
    OFF_TOPIC = "off_topic"
    """General knowledge that the content does not hold."""


class Case(Record):
    """One question to ask."""

    kind: Kind
    question: str
    document_id: DocumentId | None = Field(description="What it was made of; null for an off-topic one")
    answer: str = Field(default="", description="The words that answer it")
    facts: list[list[str]] = Field(default_factory=list, description="What an answer says, each in admissible wordings")
    gold: list[ChunkId] = Field(default_factory=list, description="Chunks that it was made of")
    holders: list[ChunkId] = Field(default_factory=list, description="These and every other that holds the answer")
    by_words: bool = Field(default=False, description="It is no sentence but a passage's rare words, as one searches")


class Seen(Record):
    """What the retriever made of it. Everything else is null where the case was skipped."""

    index_id: IndexId
    seq: int = 0
    features: dict[str, float] | None = Field(default=None, description="Null when nothing was found at all")
    distance: float | None = None
    coverage: float | None = None
    critic: float | None = Field(default=None, description="Of the gold passage; of the best where there is none")
    found: bool | None = Field(default=None, description="A passage that holds the answer is among those shown")
    reciprocal: dict[str, float] = Field(
        default_factory=dict, description="By fusion, 1 / rank of the first passage that holds the answer; 0 without"
    )
    skipped: str | None = Field(default=None, description="Why it does not count")


@dataclass(frozen=True)
class Asked:
    """A case that was asked."""

    case: Case
    seen: Seen

    @property
    def answerable(self) -> bool:
        return self.case.kind is Kind.ANSWERABLE
