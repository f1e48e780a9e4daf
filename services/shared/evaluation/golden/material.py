"""What questions are made from: the live documents of a space, as their chunks hold them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.shared.contracts.ids import DocumentId
from services.shared.evaluation.golden.listed import listed

LIKELY_MAX = 50
"""Questions that are taken from one document's description."""

_ASKS = listed(
    """
    who what which when where why how is are was were do does did has have had can could may should will would
    """
)


@dataclass(frozen=True)
class Passage:
    """A live chunk: ``text[lead:]`` is what stands between ``start`` and ``end`` in the extracted text."""

    text: str
    section: str
    start: int
    end: int
    kind: str
    """fact or negative."""
    lead: int

    @property
    def body(self) -> str:
        """The chunk without the table header that it repeats: a stretch of the extracted text."""
        return self.text[self.lead :]


@dataclass(frozen=True)
class SourceDocument:
    """A live document with all its chunks in their order."""

    document_id: DocumentId
    title: str
    type: str | None
    questions: tuple[str, ...]
    """What its owner expects visitors to ask, from its description."""
    passages: tuple[Passage, ...]


def likely_questions(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The ``questions`` of a document's description, as far as they are questions.

    Sites use the key for other things too, such as whom to ask: what neither ends in a question mark nor
    begins like a question of some words is left out.
    """
    listed = metadata.get("questions")
    listed = listed if isinstance(listed, list) else [listed]
    lines = (" ".join(one.split()) for one in listed if isinstance(one, str))
    return tuple(dict.fromkeys(line for line in lines if _is_question(line)))[:LIKELY_MAX]


def _is_question(line: str) -> bool:
    words = line.split()
    return line.endswith(("?", "？", "؟")) or (len(words) > 2 and words[0].lower() in _ASKS)
