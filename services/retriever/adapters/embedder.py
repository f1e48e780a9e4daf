"""The embedding model behind two bounded queues, a thread each: the event loop never waits, nor do questions."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.retriever.adapters.lane import Lane, stopping
from services.retriever.adapters.records import identity
from services.retriever.domain.hits import EmbedderIdentity
from services.retriever.ports import Embedded, Vector
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder
    from services.shared.models.loader import LazyEmbedder

log = get_logger(__name__)

STOP_S = 10.0


@dataclass(eq=False)
class _Questions:
    """Questions of one caller; several callers' are embedded in one batch."""

    texts: list[str]
    future: "Future[Embedded]" = field(default_factory=Future)


@dataclass(eq=False)
class _Texts:
    """Texts to compare with a question."""

    question: str
    texts: list[str]
    future: "Future[list[float]]" = field(default_factory=Future)


class QueuedEmbedder:
    """The port ``Embedder``. Questions have a thread of their own, so that they never wait behind texts.

    At most ``waiting_limit`` callers wait with questions, and as many with texts; the next is told at once that
    the model is busy. A caller who is cancelled takes its waiting work along; texts under way stop after the
    ``batch`` that runs.
    """

    def __init__(self, lazy: "LazyEmbedder", *, waiting_limit: int, batch: int) -> None:
        self._lazy = lazy
        self._batch = batch
        self._questions: Lane[_Questions] = Lane(
            "questions", limit=waiting_limit, take=self._one_batch, do=self._embed, begin=self._model
        )
        self._texts: Lane[_Texts] = Lane(
            "texts", limit=waiting_limit, take=_one_caller, do=self._compare, begin=lambda: None
        )
        self.failure: RagstoneError | None = None
        """Why the last attempt to load the model failed; None while all is well."""

    @property
    def spec(self) -> EmbedderIdentity | None:
        """The loaded model; None until it is."""
        return identity(self._lazy.get().spec) if self._lazy.loaded else None

    @property
    def engine(self) -> str:
        """What computes the vectors; empty until the model is loaded."""
        return self._lazy.get().engine if self._lazy.loaded else ""

    def start(self) -> None:
        """Start the threads, one of which begins with loading the model."""
        self._questions.start()
        self._texts.start()

    def close(self) -> None:
        """Stop after the batches that run; whoever waits is told that the service stops."""
        lanes = (self._questions, self._texts)
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            lane.wait(STOP_S)

    async def questions(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the questions."""
        work = _Questions(list(texts))
        self._questions.put(work)
        return await asyncio.wrap_future(work.future)

    async def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine similarity of each text to the question."""
        work = _Texts(question, list(texts))
        self._texts.put(work)
        return await asyncio.wrap_future(work.future)

    def _one_batch(self, waiting: list[_Questions]) -> list[_Questions]:
        """As many callers' questions as fit one batch; at least one caller's."""
        taken: list[_Questions] = []
        while waiting and (not taken or sum(len(one.texts) for one in (*taken, waiting[0])) <= self._batch):
            taken.append(waiting.pop(0))
        return taken

    def _model(self) -> "Embedder":
        try:
            model = self._lazy.get()
        except RagstoneError as error:
            self.failure = error
            log.error("model_not_loaded", why=error.detail)
            raise
        self.failure = None
        return model

    def _embed(self, batch: list[_Questions]) -> None:
        model = self._model()
        vectors = model.embed_questions([text for work in batch for text in work.texts]).tolist()
        embedder = identity(model.spec)
        at = 0
        for work in batch:
            mine: list[Vector] = vectors[at : at + len(work.texts)]
            at += len(work.texts)
            if work.future.set_running_or_notify_cancel():
                work.future.set_result(Embedded(mine, embedder))

    def _compare(self, one: list[_Texts]) -> None:
        """First the question, then the texts, a batch at a time, longest first: like lengths share a batch."""
        (work,) = one
        model = self._model()
        asked = model.embed_questions([work.question])[0]
        order = sorted(range(len(work.texts)), key=lambda n: len(work.texts[n]), reverse=True)
        similarities = [0.0] * len(order)
        for start in range(0, len(order), self._batch):
            if work.future.cancelled():
                return
            if self._texts.closed:
                raise stopping()
            rows = order[start : start + self._batch]
            near = model.embed_documents([work.texts[row] for row in rows]) @ asked
            for row, similarity in zip(rows, near.tolist(), strict=True):
                similarities[row] = similarity
        if work.future.set_running_or_notify_cancel():
            work.future.set_result(similarities)


def _one_caller(waiting: list[_Texts]) -> list[_Texts]:
    return [waiting.pop(0)] if waiting else []
