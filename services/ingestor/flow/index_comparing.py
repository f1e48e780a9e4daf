"""Does a new index find less than the one that serves? Both are asked the same questions, as visitors would be served.

The questions are the owner's approved golden set where it is large enough, else made of the content by rule, and
where the rules find few, searches of rare words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingestor.flow.index_filling import Filling, Slice
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.jobs import ProgressNote
from services.ingestor.ports.reembedding import Ranking, Rankings
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Behaviour, GoldSpan, Question
from services.shared.contracts.ids import IndexId, SpaceId
from services.shared.contracts.indexes import IndexComparison
from services.shared.evaluation.calibration.by_words import searches
from services.shared.evaluation.golden.drafts import shuffled
from services.shared.evaluation.golden.material import SourceDocument
from services.shared.evaluation.golden.rules import make
from services.shared.evaluation.rankings import Found, Gold, locate, ranked_items, retrieval_values_of
from services.shared.evaluation.statistics import difference

COMPARE = "compare"
METRIC = "ndcg@10"
DEPTH = 10
OWN_LEAST = 10
"""Golden questions from which on the owner's set is asked; fewer show no difference beyond chance."""
QUESTIONS_MAX = 200
MADE_MAX = 100
PASSAGES_MAX = 1_500
"""Chunks that questions are made of; reading and asking by rule takes some seconds for as many."""
LEAST_ASKED = 30
"""When the time is over, so many questions are enough."""
SEED = 0
NO_QUESTIONS = (
    "It was not compared: no questions could be made of the content, and there is no approved golden set. "
    "Promote it with force."
)
LONGEST_S = 60.0
"""A hundred questions to two indexes take ten seconds on two quiet cores; few questions show no difference."""
SERVES_SO = frozenset({"model_unavailable", "index_incompatible", "vectors_incomplete"})
"""What a serving index may do without and is compared all the same: so it serves."""
MAY_LACK = frozenset({"vectors_incomplete"})
"""What is published while both are asked is followed a moment later."""


@dataclass(frozen=True)
class Asked:
    """A question, and where in the live texts its answer stands."""

    text: str
    golds: tuple[Gold, ...]


class Comparing:
    """Compares one index with the serving one."""

    def __init__(self, tools: Tools, slice: Slice, filling: Filling) -> None:
        self._tools = tools
        self._content = tools.reembedding.content
        self._slice = slice
        self._filling = filling
        self._progress = Progress(tools.ledger, tools.clock)

    def compare(self, serving: IndexId) -> IndexComparison | None:
        """None when there is nothing to ask.

        It is one step that makes no way for others, so what is not asked after ``LONGEST_S`` is left out.
        Raises EmbeddingStopped, RagstoneError.
        """
        tools, space = self._tools, self._slice.job.space
        golden, asked = self._questions(space)
        if not asked:
            return None
        pairs: list[tuple[Ranking, Ranking]] = []
        with tools.reembedding.rankings() as rankings:
            # The retriever loads the new embedder at its first question.
            self._pair(rankings, space, asked[0], serving)
            began = tools.clock()
            for n, one in enumerate(asked):
                self._filling.keep_going()
                self._progress.say([ProgressNote(self._slice.job.id, COMPARE, n, len(asked))])
                pairs.append(self._pair(rankings, space, one, serving))
                if tools.clock() - began > LONGEST_S and len(pairs) >= LEAST_ASKED:
                    break
        before, after = self._values(asked, pairs)
        found = difference(before, after, SEED)
        return IndexComparison(
            questions=len(pairs),
            golden=golden,
            metric=METRIC,
            serving=_mean(before),
            candidate=_mean(after),
            difference=found.mean,
            low=found.low,
            high=found.high,
            worse=found.high < 0,
            seq=min(ranking.seq for pair in pairs for ranking in pair),
        )

    def _questions(self, space: SpaceId) -> tuple[str, list[Asked]]:
        own = [one for one in self._content.approved(space) if one.behaviour is Behaviour.ANSWER and one.gold]
        if len(own) >= OWN_LEAST:
            by_id = {one.id: one for one in own}
            chosen = [by_id[id] for id in shuffled(list(by_id), SEED)][:QUESTIONS_MAX]
            return "own", self._located(space, chosen)
        return "made", self._located(space, self._made(space))

    def _made(self, space: SpaceId) -> list[Question]:
        documents: list[SourceDocument] = []
        passages = 0
        for document in self._tools.evaluation.content.documents(space, SEED):
            self._filling.keep_going()
            documents.append(document)
            passages += len(document.passages)
            if passages >= PASSAGES_MAX:
                break
        made = [one for one in make(documents, MADE_MAX, SEED) if one.behaviour is Behaviour.ANSWER and one.gold]
        return made if len(made) >= LEAST_ASKED else [*made, *_by_words(documents, LEAST_ASKED - len(made))]

    def _located(self, space: SpaceId, questions: Sequence[Question]) -> list[Asked]:
        """The questions whose answers stand in the live texts."""
        texts = self._content.texts(space, {span.document_id for one in questions for span in one.gold})
        asked = []
        for one in questions:
            golds = []
            for span in one.gold:
                text = texts.get(span.document_id)
                if text is not None and span.quote is None:
                    golds.append(Gold(span.document_id, None, None, span.grade, span.group))
                elif text is not None and span.quote is not None and (place := locate(text, span.quote)):
                    golds.append(Gold(span.document_id, place[0], place[1], span.grade, span.group))
            if golds:
                asked.append(Asked(one.text, tuple(golds)))
        return asked

    def _pair(self, rankings: Rankings, space: SpaceId, one: Asked, serving: IndexId) -> tuple[Ranking, Ranking]:
        pair = []
        for index_id, may_lack in ((serving, SERVES_SO), (self._slice.index, MAY_LACK)):
            ranking = rankings.look(space, one.text, index_id, DEPTH)
            broken = sorted(set(ranking.degraded) - may_lack)
            if broken:
                detail = (
                    f"the retriever searched index {index_id} without a part of it ({', '.join(broken)}), so the two "
                    "indexes cannot be compared; see its /readyz and its log, then retry the job"
                )
                raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
            pair.append(ranking)
        return pair[0], pair[1]

    def _values(
        self, asked: Sequence[Asked], pairs: Sequence[tuple[Ranking, Ranking]]
    ) -> tuple[list[float], list[float]]:
        golds = {str(n): asked[n].golds for n in range(len(pairs))}
        both = []
        for side in (0, 1):
            found = {
                str(n): ranked_items(
                    [Found(one.document_id, one.start, one.end) for one in pair[side].found], asked[n].golds
                )
                for n, pair in enumerate(pairs)
            }
            values = retrieval_values_of(found, golds, depth=DEPTH)
            both.append([values[str(n)][METRIC] for n in range(len(pairs))])
        return both[0], both[1]


def _by_words(documents: Sequence[SourceDocument], most: int) -> list[Question]:
    """Searches of rare words, each of another passage."""
    places = [(document, passage) for document in documents for passage in document.passages]
    found = {
        f"{place}": Question(
            id=f"words-{place}",
            text=search,
            gold=[GoldSpan(document_id=places[place][0].document_id, quote=sentence)],
        )
        for place, search, sentence in searches([passage.body for _, passage in places])
    }
    return [found[key] for key in shuffled(list(found), SEED)][:most]


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 6)
