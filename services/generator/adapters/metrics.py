"""What the generator counts, for Prometheus, and the span of each writing."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from services.shared.contracts.health import PartHealth
from services.shared.contracts.writing import Decomposed, SentenceWritten, WritingDone
from services.shared.kit.metrics import Metrics
from services.shared.kit.tracing import span_apart

Event = SentenceWritten | WritingDone


class GeneratorMetrics(Metrics):
    """One process's; what is watched is there once the service runs."""

    def __init__(self) -> None:
        super().__init__("generator")
        self._state: Callable[[], tuple[str, PartHealth, int] | None] = lambda: None
        self._writings = self.counter(
            "ragstone_writings_total",
            "Writings by writer and end: answered, a reason for no answer, or unfinished",
            *("writer", "end"),
        )
        self._writing_s = self.histogram("ragstone_writing_seconds", "Time of a whole writing", "writer")
        self._sentences = self.counter(
            "ragstone_written_sentences_total", "Sentences that were written: kept, or dropped by the check", "fate"
        )
        self._tokens = self.counter(
            "ragstone_writer_tokens_total", "Tokens by the model's own count: read (prompts) or written", "direction"
        )
        self._decompositions = self.counter(
            "ragstone_decompositions_total", "Questions that were to be taken apart by what did it", "by"
        )
        self.gauge("ragstone_writer_ready", "Does the model that is set write: 1, or 0", ("writer",), self._ready)
        self.gauge(
            "ragstone_writer_questions", "Questions that the model answers or that wait for it", (), self._questions
        )

    def watch(self, state: Callable[[], tuple[str, PartHealth, int] | None]) -> None:
        """Read the model's state from now on: its kind, its health and the questions with it; None without one."""
        self._state = state

    async def writing(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The events of a writing, counted when it ends."""
        began = time.perf_counter()
        sentences = 0
        done: WritingDone | None = None
        with span_apart("write") as inside:
            try:
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, WritingDone):
                            done = event
                        else:
                            sentences += 1
                        yield event
            finally:
                writer = "none" if done is None else done.model.writer
                inside.note(writer=writer, sentences=sentences, dropped=0 if done is None else len(done.dropped))
                self._ended(writer, sentences, done)
                self._writing_s.labels(writer).observe(time.perf_counter() - began)

    def decomposed(self, parts: Decomposed) -> Decomposed:
        """A question was taken apart, or left whole."""
        self._decompositions.labels(parts.by).inc()
        return parts

    def _ended(self, writer: str, sentences: int, done: WritingDone | None) -> None:
        self._sentences.labels("kept").inc(sentences)
        if done is None:
            self._writings.labels(writer, "unfinished").inc()
            return
        self._writings.labels(writer, done.reason or "answered").inc()
        self._sentences.labels("dropped").inc(len(done.dropped))
        self._tokens.labels("read").inc(done.usage.prompt)
        self._tokens.labels("written").inc(done.usage.answer)

    def _ready(self) -> Mapping[tuple[str, ...], float]:
        state = self._state()
        return {} if state is None else {(state[0],): float(state[1].ready)}

    def _questions(self) -> Mapping[tuple[str, ...], float]:
        state = self._state()
        return {(): 0.0 if state is None else state[2]}
