"""One question of an evaluation: asked, reviewed and counted."""

import math
from collections.abc import Callable, Mapping, Sequence

from services.ingestor.domain.models import same_model
from services.ingestor.ports.evaluation import Judge, Likeness, SystemUnderTest
from services.shared.contracts.answers import Answer, AnswerStatus, AskRequest
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.evaluation import EvaluationRequest, Outcome, Review, Subject, Variant
from services.shared.contracts.golden import Behaviour, Question
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.evaluation.rankings import Found, Gold, gate_values, locate, ranked_items, retrieval_values
from services.shared.evaluation.reviewers import accuracy, checks, judging, validity
from services.shared.evaluation.scoring import answer_values
from services.shared.evaluation.variants import FULL

NOBODY = "none"
"""The writer of an answer that was not written."""
JUDGE_AWAY = "judge_unavailable"
JUDGE_WROTE = "judge_is_the_writer"
COUNTING_FAILS = (ArithmeticError, AttributeError, LookupError, RuntimeError, SystemError, TypeError, ValueError)
"""What reviewing and counting may raise for a question that they did not expect, in C libraries too. Not Exception:
the worker's time may be over in the middle of it, which is no fault of the question."""


class Judged:
    """Asks and reviews; remembers texts for the time of one slice."""

    def __init__(
        self,
        request: EvaluationRequest,
        system: SystemUnderTest,
        likeness: Likeness,
        judge: Judge | None,
        clock: Callable[[], float],
    ) -> None:
        self._request = request
        self._system = system
        self._likeness = likeness
        self._judge = judge
        self._clock = clock
        self._texts: dict[tuple[DocumentId, VersionId | None], str | None] = {}

    def outcome(self, question: Question, variant: Variant) -> Outcome:
        """How the question comes out when retrieval runs this way.

        A question that cannot be asked or counted has its error in the outcome, so that it costs no other one;
        a gateway that is away raises RagstoneError.
        """
        try:
            return self._asked(question, variant)
        except RagstoneError as error:
            if error.status == 503:
                raise
            why = error.detail
        except COUNTING_FAILS as error:
            why = f"its outcome could not be counted: {type(error).__name__}: {error}"
        return Outcome(question_id=question.id, variant=variant.name, error=why)

    def _asked(self, question: Question, variant: Variant) -> Outcome:
        golds, missing = self._golds(question)
        outcome = Outcome(question_id=question.id, variant=variant.name, missing_gold=missing)
        if self._request.subject in (Subject.ALL, Subject.RETRIEVAL):
            outcome = self._with_passages(outcome, question, variant, golds)
        if self._request.subject in (Subject.ALL, Subject.ANSWERS):
            outcome = self._with_answer(outcome, question, variant, golds)
        return outcome

    def _with_passages(self, outcome: Outcome, question: Question, variant: Variant, golds: Sequence[Gold]) -> Outcome:
        began = self._clock()
        response = self._system.search(
            SearchRequest(question=question.text, top_k=self._request.top_k, stages=variant.stages)
        )
        total_ms = 1000 * (self._clock() - began)
        found = [Found(one.document_id, one.start, one.end) for one in response.passages]
        values = retrieval_values(ranked_items(found, golds), golds, depth=self._request.top_k)
        timings = {f"search.{stage}": ms for stage, ms in response.timings_ms.items()}
        return outcome.model_copy(
            update={
                "values": finite({**values, **gate_values(question.behaviour, response.verdict.gate)}),
                "gate": response.verdict.gate,
                "answerable": response.verdict.answerable,
                "ranking": _ranking(response),
                "degraded": response.degraded,
                "timings_ms": {**timings, "search.client": round(total_ms, 1)},
                "seq": response.index.seq,
            }
        )

    def _with_answer(self, outcome: Outcome, question: Question, variant: Variant, golds: Sequence[Gold]) -> Outcome:
        began = self._clock()
        stages = None if variant.name == FULL.name else variant.stages
        answer = self._system.ask(AskRequest(question=question.text, stages=stages, explain=True))
        total_ms = 1000 * (self._clock() - began)
        reviews, degraded = self._reviews(question, answer, by_judge=variant.name == FULL.name)
        timings = {f"ask.{stage}": ms for stage, ms in answer.timings_ms.items()}
        return outcome.model_copy(
            update={
                "values": finite({**outcome.values, **answer_values(question, answer, reviews, golds)}),
                "status": answer.status.value,
                "reason": answer.reason.value if answer.reason else None,
                "text": answer.text,
                "confidence": answer.confidence,
                "citations": [f"{one.document_id}: {one.quote}" for one in answer.citations],
                "writer": _writer(answer),
                "degraded": sorted({*outcome.degraded, *answer.degraded, *degraded}),
                "reviews": reviews,
                "timings_ms": {**outcome.timings_ms, **timings, "ask.client": round(total_ms, 1)},
                "seq": outcome.seq if answer.index.id is None else answer.index.seq,
            }
        )

    def _reviews(self, question: Question, answer: Answer, *, by_judge: bool) -> tuple[list[Review], list[str]]:
        """Each reviewer gets what its kind may see, and nothing else; and what had to be left out."""
        reviews: list[Review | None] = [checks.check(question, answer, self._quotes_hold(answer))]
        degraded: list[str] = []
        if answer.status == AnswerStatus.ANSWERED:
            case = _case(question, answer)
            reviews += [] if case is None else [accuracy.by_rule(case), self._accuracy_by_embedding(case)]
            reviews += [validity.by_rule(answer.text), self._validity_by_embedding(answer.text)]
            if by_judge and self._judge is not None:
                judged, degraded = self._by_judge(self._judge, case, answer)
                reviews += judged
        return [review for review in reviews if review is not None and math.isfinite(review.score)], degraded

    def _accuracy_by_embedding(self, case: accuracy.AccuracyCase) -> Review | None:
        pair = accuracy.pair(case)
        return None if pair is None else accuracy.by_embedding(case, self._likeness(pair[0], [pair[1]])[0])

    def _validity_by_embedding(self, text: str) -> Review:
        sound, unsound = validity.exemplars()
        near = self._likeness(text, [*sound, *unsound])
        return validity.by_embedding(near[: len(sound)], near[len(sound) :])

    def _by_judge(
        self, judge: Judge, case: accuracy.AccuracyCase | None, answer: Answer
    ) -> tuple[list[Review], list[str]]:
        """The judge's reviews; none of an answer that it wrote itself."""
        if answer.model.name and same_model(answer.model.name, judge.name):
            return [], [JUDGE_WROTE]
        try:
            reviews = [judging.read_validity(judge.ask(judging.validity_prompt(answer.text)))]
            if case is not None:
                reviews.insert(0, judging.read_accuracy(judge.ask(judging.accuracy_prompt(case))))
        except (RagstoneError, ValueError):
            return [], [JUDGE_AWAY]
        return reviews, []

    def _quotes_hold(self, answer: Answer) -> list[bool]:
        """For each citation: does its quote stand at its place in the text that the source's door gives?"""
        held = []
        for citation in answer.citations:
            text = self._text(citation.document_id, citation.version)
            held.append(text is not None and text[citation.start : citation.end] == citation.quote)
        return held

    def _golds(self, question: Question) -> tuple[list[Gold], list[str]]:
        """Where the gold passages stand in the live documents, and those that stand nowhere: they are never found."""
        golds: list[Gold] = []
        missing: list[str] = []
        for span in question.gold:
            text = self._text(span.document_id, None)
            if span.quote is None:
                golds.append(Gold(span.document_id, None, None, span.grade, span.group))
                missing += [span.document_id] if text is None else []
                continue
            found = None if text is None else locate(text, span.quote)
            golds.append(Gold(span.document_id, *(found or (-1, -1)), span.grade, span.group))
            missing += [f"{span.document_id}: {span.quote}"] if found is None else []
        return golds, missing

    def _text(self, document_id: DocumentId, version: VersionId | None) -> str | None:
        key = document_id, version
        if key not in self._texts:
            self._texts[key] = self._system.text(document_id, version)
        return self._texts[key]


def finite(values: Mapping[str, float]) -> dict[str, float]:
    """Without numbers that are none: one NaN would make every mean NaN."""
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _case(question: Question, answer: Answer) -> accuracy.AccuracyCase | None:
    """What accuracy may see; None where no answer is right, or nothing says which."""
    if question.behaviour is not Behaviour.ANSWER or not (question.expected or question.facts):
        return None
    return accuracy.AccuracyCase(question.text, question.expected, question.facts, question.needed, answer.text)


def _writer(answer: Answer) -> str | None:
    """Who wrote the answer; None where nobody was asked to."""
    kind, name = answer.model.writer, answer.model.name
    return None if kind == NOBODY else f"{kind} {name or ''}".strip()


def _ranking(response: SearchResponse) -> list[str]:
    """The first passages, as a person reads them."""
    return [f"{one.document_id} > {one.section}" if one.section else one.document_id for one in response.passages[:10]]
