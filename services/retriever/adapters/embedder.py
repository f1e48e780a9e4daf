"""The embedding model behind a bounded queue: one thread works, the event loop never does."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from services.retriever.adapters.records import identity
from services.retriever.domain.hits import EmbedderIdentity
from services.retriever.ports import Embedded, Vector
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder, Vectors
    from services.shared.models.loader import LazyEmbedder

log = get_logger(__name__)

RETRY_AFTER_S = 2
STOP_S = 10.0


@dataclass(eq=False)
class _Questions:
    """Questions of one caller; several callers' are embedded in one batch."""

    texts: list[str]
    future: "Future[Embedded]" = field(default_factory=Future)


@dataclass(eq=False)
class _Texts:
    """Texts to compare with a question, worked on a slice at a time, longest first: like lengths share a slice."""

    question: str
    texts: list[str]
    future: "Future[list[float]]" = field(default_factory=Future)
    order: list[int] = field(init=False)
    done: int = 0
    asked: "Vectors | None" = None
    similarities: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.order = sorted(range(len(self.texts)), key=lambda n: len(self.texts[n]), reverse=True)
        self.similarities = [0.0] * len(self.texts)


W = TypeVar("W", _Questions, _Texts)


class QueuedEmbedder:
    """The port ``Embedder``. Questions go before texts, also before the rest of texts that are under way.

    At most ``waiting_limit`` callers wait with questions, and as many with texts; the next is told at once that
    the model is busy. A caller who is cancelled takes its waiting work along; work under way stops after the
    slice that runs.
    """

    def __init__(self, lazy: "LazyEmbedder", *, waiting_limit: int, batch: int) -> None:
        self._lazy = lazy
        self._limit = waiting_limit
        self._batch = batch
        self._wake = threading.Condition()
        self._questions: list[_Questions] = []
        self._texts: list[_Texts] = []
        self._under_way: _Texts | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="embedder", daemon=True)
        self.failure: RagstoneError | None = None
        """Why the last attempt to load the model failed; None while all is well."""

    @property
    def spec(self) -> EmbedderIdentity | None:
        """The loaded model; None until it is."""
        return identity(self._lazy.get().spec) if self._lazy.loaded else None

    def start(self) -> None:
        """Start the thread, which begins with loading the model."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the slice that runs; whoever waits is told that the service stops."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=STOP_S)

    async def questions(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the questions."""
        work = _Questions(list(texts))
        self._wait_in_line(self._questions, work)
        return await asyncio.wrap_future(work.future)

    async def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine similarity of each text to the question."""
        work = _Texts(question, list(texts))
        self._wait_in_line(self._texts, work)
        return await asyncio.wrap_future(work.future)

    def _wait_in_line(self, line: list[W], work: W) -> None:
        with self._wake:
            line[:] = [one for one in line if not one.future.cancelled()]
            if self._closed:
                raise _stopping()
            if len(line) >= self._limit:
                detail = f"{self._limit} requests wait for the embedding model already; ask again in a moment."
                raise RagstoneError(ErrorCode.BUSY, detail, retry_after_s=RETRY_AFTER_S)
            line.append(work)
            self._wake.notify()

    def _run(self) -> None:
        self._attempt([], self._model)
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._questions or self._texts or self._under_way)
                if self._closed:
                    break
                questions = self._take_questions()
                if not questions and self._under_way is None and self._texts:
                    self._under_way = self._texts.pop(0)
            if questions:
                self._attempt(questions, partial(self._embed, questions))
            elif self._under_way is not None:
                texts = self._under_way
                self._attempt([texts], partial(self._compare_slice, texts))
                if texts.future.done():
                    self._under_way = None
        left: list[_Questions | _Texts] = [*self._questions, *self._texts]
        for work in [*left, self._under_way] if self._under_way else left:
            _fail(work, _stopping())

    def _take_questions(self) -> list[_Questions]:
        """As many callers' questions as fit one batch; at least one caller's."""
        taken: list[_Questions] = []
        self._questions[:] = [one for one in self._questions if not one.future.cancelled()]
        while self._questions and sum(len(one.texts) for one in (*taken, self._questions[0])) <= self._batch:
            taken.append(self._questions.pop(0))
        if not taken and self._questions:
            taken.append(self._questions.pop(0))
        return taken

    def _attempt(self, works: Sequence[_Questions | _Texts], step: Callable[[], object]) -> None:
        """Run a step; what goes wrong goes to the callers who wait for it, and the thread lives on."""
        try:
            step()
        except RagstoneError as error:
            self._failed(works, error)
        # Out of memory, a broken weight file: torch raises anything.
        except Exception as error:
            log.exception("embedding_failed")
            detail = f"The embedding model failed ({type(error).__name__}: {error}); see the retriever's log."
            self._failed(works, RagstoneError(ErrorCode.MODEL_UNAVAILABLE, detail))

    def _model(self) -> "Embedder":
        model = self._lazy.get()
        self.failure = None
        return model

    def _failed(self, works: Sequence[_Questions | _Texts], error: RagstoneError) -> None:
        if not self._lazy.loaded:
            self.failure = error
            log.error("model_not_loaded", why=error.detail)
        for work in works:
            _fail(work, error)

    def _embed(self, batch: Sequence[_Questions]) -> None:
        model = self._model()
        vectors = model.embed_questions([text for work in batch for text in work.texts]).tolist()
        at = 0
        for work in batch:
            mine: list[Vector] = vectors[at : at + len(work.texts)]
            at += len(work.texts)
            if work.future.set_running_or_notify_cancel():
                work.future.set_result(Embedded(mine, identity(model.spec)))

    def _compare_slice(self, work: _Texts) -> None:
        """One batch: first the question, then a slice of the texts each time."""
        if work.future.cancelled():
            return
        model = self._model()
        if work.asked is None:
            work.asked = model.embed_questions([work.question])[0]
            return
        rows = work.order[work.done : work.done + self._batch]
        for row, near in zip(rows, model.embed_documents([work.texts[row] for row in rows]) @ work.asked, strict=True):
            work.similarities[row] = float(near)
        work.done += len(rows)
        if work.done == len(work.order) and work.future.set_running_or_notify_cancel():
            work.future.set_result(work.similarities)


def _fail(work: _Questions | _Texts, error: RagstoneError) -> None:
    if not work.future.done() and work.future.set_running_or_notify_cancel():
        work.future.set_exception(error)


def _stopping() -> RagstoneError:
    return RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "The retriever is stopping; ask again.", retry_after_s=5)
