"""What the gateway counts, for Prometheus: of answers at their door, and of what the other services answered."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from services.gateway.ports.answering import Generator, Retriever
from services.gateway.ports.figures import Overview
from services.shared.contracts.answers import Answer
from services.shared.contracts.jobs import JobKind, JobState, Queue
from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.contracts.writing import Decomposed, DecomposeRequest, WriteEvent, WriteRequest, WritingDone
from services.shared.kit.metrics import Metrics, Vocabulary, among

SERVICE = "gateway"

GATES = frozenset({"good", "fallback", "poor"})

Labelled = Mapping[tuple[str, ...], float]


@dataclass(frozen=True)
class Moment:
    """What is read where it is counted already."""

    given: Callable[[], Mapping[str, int]]
    """Questions by how they were answered: hit, miss, shared."""
    under_way: Callable[[], int]
    """Answers that are being made."""


class GatewayMetrics(Metrics):
    """One process's. The port Observer; ``overview`` is what was seen last of the whole system."""

    def __init__(self) -> None:
        super().__init__(SERVICE)
        self.overview = Overview({}, None)
        self._stages = Vocabulary()
        self._reasons = Vocabulary()
        self._degradations = Vocabulary()
        self._questions = self.counter(
            "ragstone_questions_total",
            "Questions that got an Answer, by its status and the reason for none; cached ones included",
            *("status", "reason"),
        )
        self._stage_s = self.histogram(
            "ragstone_stage_seconds", "Time of one stage of a question, or of a search", "service", "stage"
        )
        self._degraded = self.counter("ragstone_degraded_total", "Answers by what had to be left out", "what")
        self._gates = self.counter("ragstone_gates_total", "Searches by what the quality gate said", "gate")
        self._sentences = self.counter(
            "ragstone_sentences_total", "Sentences of writings: kept (shown), or dropped as not supported", "fate"
        )
        self._tokens = self.counter(
            "ragstone_tokens_total", "Tokens that answers cost: read (prompts) or written", "direction"
        )

    def look_at(self, moment: Moment) -> None:
        """Read these, and the last overview, at each look."""
        self.counted(
            "ragstone_cache_total",
            "Questions by cache: hit, miss, or shared with an equal one under way; others could not be looked up",
            ("result",),
            lambda: {(how,): number for how, number in moment.given().items()},
        )
        self.gauge(
            "ragstone_answers_under_way", "Answers that are being made now", (), lambda: {(): moment.under_way()}
        )
        self._look_at_system()

    def answered(self, answer: Answer) -> None:
        """Count an answer by how it ended, and what it took."""
        reason = "none" if answer.reason is None else answer.reason.value
        self._questions.labels(answer.status.value, self._reasons.label(reason)).inc()
        for stage, ms in answer.timings_ms.items():
            # What the retriever timed (retrieve.vector) it tells itself.
            if "." not in stage and (not answer.cached or stage == "cache"):
                self._stage_s.labels(SERVICE, self._stages.label(stage)).observe(ms / 1000)
        for what in answer.degraded:
            self._degraded.labels(self._degradations.label(what)).inc()

    def found(self, response: SearchResponse) -> None:
        """Count a search by its gate."""
        self._gates.labels(among(response.verdict.gate, GATES)).inc()

    def wrote(self, sentences: int, done: WritingDone) -> None:
        """Count what a writing came to."""
        self._sentences.labels("kept").inc(sentences)
        self._sentences.labels("dropped").inc(len(done.dropped))
        self._tokens.labels("read").inc(done.usage.prompt)
        self._tokens.labels("written").inc(done.usage.answer)

    def _look_at_system(self) -> None:
        self.gauge(
            "ragstone_part_ready",
            "Is the part there and ready: 1, or 0 (catalog, redis, services, worker, reconciler, asker)",
            ("part",),
            lambda: {(part,): float(health.ready) for part, health in self.overview.parts.items()},
        )
        self.gauge("ragstone_jobs", "Jobs in the catalog by state and kind", ("state", "kind"), self._jobs)
        self.gauge("ragstone_queue_jobs", "Jobs that wait in a queue", ("queue",), self._waiting)
        self.gauge("ragstone_queue_oldest_seconds", "How long the oldest of them has waited", ("queue",), self._oldest)
        self.gauge("ragstone_spaces", "Spaces", (), lambda: self._one("spaces"))
        self.gauge("ragstone_documents", "Documents that answer, in all spaces", (), lambda: self._one("documents"))
        self.gauge("ragstone_chunks", "Chunks that are kept, in all spaces", (), lambda: self._one("chunks"))
        self.gauge(
            "ragstone_index_lag_changes",
            "Changes of the content that the index furthest behind has not followed, by state; serving ones have none",
            ("state",),
            self._lag,
        )

    def _jobs(self) -> Labelled:
        seen = self.overview.figures
        if seen is None:
            return {}
        return {(state, kind): seen.jobs.get((state, kind), 0) for state in JobState for kind in JobKind}

    def _waiting(self) -> Labelled:
        seen = self.overview.figures
        if seen is None:
            return {}
        return {(queue,): seen.waiting[queue].jobs if queue in seen.waiting else 0 for queue in Queue}

    def _oldest(self) -> Labelled:
        seen = self.overview.figures
        if seen is None:
            return {}
        return {(queue,): seen.waiting[queue].oldest_s if queue in seen.waiting else 0 for queue in Queue}

    def _lag(self) -> Labelled:
        seen = self.overview.figures
        return {} if seen is None else {(state,): behind for state, behind in seen.lag.items()}

    def _one(self, name: str) -> Labelled:
        seen = self.overview.figures
        return {} if seen is None else {(): getattr(seen, name)}


class CountedRetriever:
    """The port Retriever; what it finds is counted."""

    def __init__(self, retriever: Retriever, metrics: GatewayMetrics) -> None:
        self._retriever = retriever
        self._metrics = metrics

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Ask for passages."""
        response = await self._retriever.retrieve(request)
        self._metrics.found(response)
        return response


class CountedGenerator:
    """The port Generator; what it writes is counted."""

    def __init__(self, generator: Generator, metrics: GatewayMetrics) -> None:
        self._generator = generator
        self._metrics = metrics

    async def decompose(self, request: DecomposeRequest) -> Decomposed:
        """Ask for the parts of a question."""
        return await self._generator.decompose(request)

    async def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        """The events as they come."""
        sentences = 0
        async with aclosing(self._generator.write(request)) as events:
            async for event in events:
                if isinstance(event, WritingDone):
                    self._metrics.wrote(sentences, event)
                else:
                    sentences += 1
                yield event
