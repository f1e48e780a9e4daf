"""The critic: the shipped model over the words of the space's own index."""

from collections.abc import Sequence

from services.retriever.adapters.keywords import Bm25Keywords, highest_idf
from services.retriever.adapters.threads import Threads
from services.retriever.domain.judged import Candidate, Judged
from services.shared.contracts.ids import SpaceId
from services.shared.index.analyser import question_languages, question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.models.critic.answerability import answerability
from services.shared.models.critic.features import Candidate as Seen
from services.shared.models.critic.features import compare
from services.shared.models.critic.matching import Question
from services.shared.models.critic.runtime import shipped

THREADS = 4


class ShippedCritic:
    """The port ``Critic`` over ``services.shared.models.critic``."""

    def __init__(self, keywords: Bm25Keywords) -> None:
        self._keywords = keywords
        self._threads = Threads(THREADS)

    async def judge(self, space: SpaceId, question: str, candidates: Sequence[Candidate]) -> Judged:
        """Each candidate against the question, and all of them together."""
        return await self._threads.run(self._keywords.ask, space, lambda index: _judged(index, question, candidates))


def _judged(index: BM25Index, question: str, candidates: Sequence[Candidate]) -> Judged:
    critic = shipped()
    language = question_languages(question, index.idf)[0]
    asked = Question.of(
        question,
        terms=lambda text: question_tokens(text, language),
        idf=index.idf,
        highest=highest_idf(index),
    )
    compared = compare(asked, [_seen(one, language) for one in candidates])
    relevant = critic.judge(compared)
    features = answerability(compared, relevant)
    return Judged(relevant, critic.answerable(features), features)


def _seen(candidate: Candidate, language: str | None) -> Seen:
    near = None if candidate.distance is None else 1.0 - candidate.distance
    return Seen(tokens(candidate.chunk.search_text, language), near, candidate.bm25)
