"""Answers that were given before: what names one, which may be given again, and whether it still holds."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from services.gateway.domain.answering import NO_WRITER
from services.gateway.domain.citations import TextOf, passage_holds
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, SentenceEvent, WriterModel
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import FINAL_PASSAGES, Filters, Passage, Stages

MAY_BE_GIVEN_AGAIN: Mapping[str, bool] = {
    # Would be so the next time as well: content and settings make it so.
    "type_filter_dropped": True,
    "sentences_dropped": True,
    "passages_dropped": True,
    "answer_cut": True,
    # Something was away, slow or not ready, which may be over by now.
    "vector_unavailable": False,
    "vectors_incomplete": False,
    "model_unavailable": False,
    "bm25_unavailable": False,
    "index_incompatible": False,
    "critic_unavailable": False,
    "decomposition_skipped": False,
    "grounding_unavailable": False,
    "scores_unavailable": False,
    "writer_fallback": False,
    "writer_failed": False,
    "writer_unavailable": False,
    # Somebody else's day is not over.
    "budget_spent": False,
}
"""For all that ``degraded`` says: may such an answer be given again? What is not in this table may not."""


@dataclass(frozen=True)
class Standing:
    """What a space holds at a moment: any change of its content, index or thresholds makes another one."""

    index: IndexId | None
    seq: int
    calibration: str | None
    """Names the calibration in force; None where the product's own values hold."""


@dataclass(frozen=True)
class Ways:
    """How answers are made at the moment, beside the content."""

    writer: WriterModel
    writing: str
    """Stands for the generator's settings."""
    finding: str
    """Stands for the retriever's."""


@dataclass(frozen=True)
class Basis:
    """Everything that decides an answer. The conversation is in ``question``, which is whole."""

    space: SpaceId
    standing: Standing
    ways: Ways
    question: str
    filters: Filters | None
    stages: Stages | None
    profile: Profile
    version: str
    """Of the product."""
    passages: int = FINAL_PASSAGES

    def fingerprint(self) -> str:
        """SHA-256 in hexadecimal; equal only where everything is."""
        parts = {
            "space": self.space,
            "standing": asdict(self.standing),
            "writer": self.ways.writer.model_dump(mode="json"),
            "settings": [self.ways.writing, self.ways.finding],
            "question": self.question,
            "filters": _said(self.filters),
            "stages": _said(self.stages),
            "profile": self.profile.model_dump(mode="json"),
            "passages": self.passages,
            "version": self.version,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _said(part: Filters | Stages | None) -> dict[str, object]:
    """What was left out says nothing."""
    return {} if part is None else part.model_dump(mode="json", exclude_none=True)


@dataclass(frozen=True)
class Given:
    """An answer as it was given: the passages that were shown, the sentences, and the whole."""

    sources: Sequence[Passage]
    sentences: Sequence[SentenceEvent]
    answer: Answer

    @property
    def documents(self) -> list[DocumentId]:
        """All whose words or titles are in it."""
        shown = [(one.document_id, *(also.document_id for also in one.also_in)) for one in self.sources]
        cited = [one.document_id for one in self.answer.citations]
        return list(dict.fromkeys([*(id for ids in shown for id in ids), *cited]))

    @property
    def texts(self) -> set[TextOf]:
        """Those that have to be live for it to be given again."""
        shown = {(one.document_id, one.version) for one in self.sources}
        others = {(also.document_id, also.version) for one in self.sources for also in one.also_in}
        return shown | others | {(one.document_id, one.version) for one in self.answer.citations}


def may_be_given_again(answer: Answer, basis: Basis) -> bool:
    """Did the answer come of this basis and of nothing else, with everything at work that belongs to it?

    Parts of a question that a conversation made whole may repeat words of an earlier answer, and are not kept.
    """
    known = (basis.standing.index, basis.standing.seq) == (answer.index.id, answer.index.seq)
    by_whom = answer.model in (basis.ways.writer, NO_WRITER)
    whole = all(MAY_BE_GIVEN_AGAIN.get(what, False) for what in answer.degraded)
    silenced = answer.status is AnswerStatus.DECLINED or answer.reason is AnswerReason.WRITER_UNAVAILABLE
    repeats = answer.rewritten is not None and bool(answer.sub_questions)
    return known and by_whom and whole and not (silenced or repeats) and answer.trace is None


def holds_still(given: Given, texts: Mapping[TextOf, str]) -> bool:
    """Does every passage and quotation of it stand word for word in these live texts?"""
    if not given.texts <= texts.keys() or not all(passage_holds(one, texts) for one in given.sources):
        return False
    cited = given.answer.citations
    return all(texts[(one.document_id, one.version)][one.start : one.end] == one.quote for one in cited)
