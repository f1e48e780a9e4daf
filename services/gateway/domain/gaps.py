"""Questions that the content does not answer: which are noted, and the document that an owner's fact becomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from services.gateway.domain.topics import closest_topics
from services.gateway.domain.typed import typed
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, AskRequest
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.gaps import Gap, GapState, NewFact
from services.shared.contracts.golden import Evidence
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.contracts.profile import Subject
from services.shared.contracts.search import Passage

QUESTION_MAX = 500
"""A longer question is rather a text with somebody's story in it, and is not noted."""

FACT_TYPE = "fact"

_NOT_IN_THE_CONTENT = (AnswerReason.NOTHING_RELEVANT, AnswerReason.NOT_SUPPORTED)


@dataclass(frozen=True)
class OpenQuestion:
    """A question to note."""

    space: SpaceId
    question: str
    nearest: Sequence[tuple[DocumentId, str]]
    """Documents that were found nearest, with their titles."""
    seq: int
    """The space's change number that the answer saw."""
    judged_bad: bool = False
    """It was answered, and somebody calls the answer bad."""


def of_content(asked: AskRequest, answer: Answer) -> bool:
    """Does the answer tell how well the whole content answers the question?"""
    narrowed = any(part is not None and part.model_dump(exclude_none=True) for part in (asked.filters, asked.stages))
    due = answer.status is AnswerStatus.ANSWERED or answer.reason in _NOT_IN_THE_CONTENT
    return due and not narrowed


def unanswered(
    space: SpaceId, asked: AskRequest, answer: Answer, shown: Sequence[Passage], subject: Subject | None
) -> OpenQuestion | None:
    """What is to be noted of an answer; None when there is nothing, as where it is one.

    Nor is a follow-up noted that only a word of an earlier answer makes whole: as it was typed it asks nothing.
    """
    if answer.status is not AnswerStatus.ABSTAINED or not of_content(asked, answer):
        return None
    question = typed(asked, answer.rewritten, subject)
    if question is None:
        return None
    topics = closest_topics(shown)
    nearest = {one.title: one.document_id for one in reversed(shown) if one.title in topics}
    pairs = [(nearest[title], title) for title in topics]
    return _noted(OpenQuestion(space, question, pairs, answer.index.seq))


def judged_bad(space: SpaceId, question: str, evidence: Evidence) -> OpenQuestion | None:
    """The same of an answer that somebody calls bad."""
    cited = list(dict.fromkeys((one.document_id, one.title) for one in evidence.citations))
    return _noted(OpenQuestion(space, question, cited, evidence.index.seq, judged_bad=True))


def _noted(one: OpenQuestion) -> OpenQuestion | None:
    # Neither database keeps a zero character.
    question = " ".join(one.question.replace("\0", "").split())
    if not question or len(question) > QUESTION_MAX:
        return None
    return OpenQuestion(one.space, question, one.nearest, one.seq, one.judged_bad)


def check_takes_a_fact(gap: Gap) -> None:
    """Raises GAP_STATE_CONFLICT for one that was dismissed."""
    if gap.state is GapState.DISMISSED:
        detail = f"Gap {gap.id} was dismissed; open it again with POST /v1/gaps/{gap.id}/reopen first."
        raise RagstoneError(ErrorCode.GAP_STATE_CONFLICT, detail)


def fact_document(gap: Gap, fact: NewFact, today: date) -> DocumentIn:
    """The document of a fact: found by the gap's question, which is its title. A later fact replaces it."""
    said = {"questions": [gap.question, *gap.others], "gap": gap.id}
    return DocumentIn(
        id=f"facts/{gap.id}",
        title=gap.question,
        type=FACT_TYPE,
        text=fact.text,
        source=fact.source or f"added by the owner on {today.isoformat()}",
        metadata=said | ({"kind": "negative"} if fact.negative else {}),
    )
