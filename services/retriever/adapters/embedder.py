"""The embedding models behind two bounded queues, a thread each: the event loop never waits, nor do questions."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.retriever.adapters.lane import Lane, model_failed, stopping, too_many
from services.retriever.adapters.records import identity
from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import EmbedderIdentity
from services.retriever.ports import Embedded, Vector
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger

if TYPE_CHECKING:
    from services.shared.models.embedders import Embedders

log = get_logger(__name__)

STOP_S = 10.0

LOADS = 2
"""Models that are loaded at the same time; one that takes minutes must not keep another waiting."""


@dataclass(eq=False)
class _Questions:
    """Questions of one caller; several callers' are embedded in one batch."""

    embedder: EmbedderIdentity
    texts: list[str]
    future: "Future[Embedded]" = field(default_factory=Future)


@dataclass(eq=False)
class _Texts:
    """Texts to compare with a question."""

    embedder: EmbedderIdentity
    question: str
    texts: list[str]
    future: "Future[list[float]]" = field(default_factory=Future)


class QueuedEmbedder:
    """The port ``Embedder``. Questions have a thread of their own, so that they never wait behind texts.

    At most ``waiting_limit`` callers wait with questions, as many with texts, and as many for models that are being
    loaded, which is done beside the two threads; the next is told at once that the model is busy. A caller who is
    cancelled takes its waiting work along; texts under way stop after the ``batch`` that runs.
    """

    def __init__(self, embedders: "Embedders", *, waiting_limit: int, batch: int) -> None:
        self._embedders = embedders
        self._batch = batch
        self._questions: Lane[_Questions] = Lane("questions", limit=waiting_limit, take=self._one_batch, do=self._embed)
        self._texts: Lane[_Texts] = Lane("texts", limit=waiting_limit, take=_one_caller, do=self._compare)
        self._limit = waiting_limit
        self._waiting = 0
        self._threads = Threads(LOADS)
        self._loading: dict[EmbedderIdentity | None, asyncio.Task[EmbedderIdentity]] = {}
        self._configured: EmbedderIdentity | None = None
        self.failures: dict[EmbedderIdentity | None, RagstoneError] = {}
        """Why the last attempt to load a model failed, None standing for the one for new indexes; of those alone that
        did not come right since."""

    @property
    def configured(self) -> EmbedderIdentity | None:
        """The embedder for new indexes; None until it was loaded once."""
        return self._configured

    def loaded(self, embedder: EmbedderIdentity) -> bool:
        """Is its model here?"""
        return self._embedders.loaded(embedder)

    def engine(self, embedder: EmbedderIdentity) -> str:
        """What computes its vectors; empty while its model is not here."""
        return self._embedders.of(embedder).engine if self.loaded(embedder) else ""

    def waiting(self) -> dict[str, int]:
        """Callers who wait: with questions, with texts, and for a model that is being loaded."""
        return {"questions": self._questions.waiting, "texts": self._texts.waiting, "loads": self._waiting}

    def start(self) -> None:
        """Start the threads."""
        self._questions.start()
        self._texts.start()

    def close(self) -> None:
        """Stop after the batches that run; whoever waits is told that the service stops."""
        lanes = (self._questions, self._texts)
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            lane.wait(STOP_S)

    async def questions(self, embedder: EmbedderIdentity, texts: Sequence[str]) -> Embedded:
        """Vectors of the questions."""
        await self._at_hand(embedder)
        work = _Questions(embedder, list(texts))
        self._questions.put(work)
        return await asyncio.wrap_future(work.future)

    async def similarities(self, embedder: EmbedderIdentity | None, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine similarity of each text to the question."""
        work = _Texts(await self._at_hand(embedder), question, list(texts))
        self._texts.put(work)
        return await asyncio.wrap_future(work.future)

    async def load(self, embedder: EmbedderIdentity | None) -> EmbedderIdentity:
        """Have the model at hand, None being the one for new indexes. Raises RagstoneError (model_unavailable)."""
        if embedder is not None and self._embedders.loaded(embedder):
            return embedder
        loading = self._loading.get(embedder)
        if loading is None:
            loading = self._loading[embedder] = asyncio.create_task(self._load(embedder))
            loading.add_done_callback(lambda done: self._ended(embedder, done))
        return await asyncio.shield(loading)

    def _ended(self, embedder: EmbedderIdentity | None, loading: "asyncio.Task[EmbedderIdentity]") -> None:
        self._loading.pop(embedder, None)
        if not loading.cancelled():
            # Whoever waited for it may be gone; it was told in any case.
            loading.exception()

    async def _at_hand(self, embedder: EmbedderIdentity | None) -> EmbedderIdentity:
        if embedder is None:
            embedder = self._configured
        if embedder is not None and self._embedders.loaded(embedder):
            return embedder
        async with self._place():
            return await self.load(embedder)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """One of the places in which a load is waited for."""
        if self._waiting >= self._limit:
            raise too_many(self._limit)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _load(self, embedder: EmbedderIdentity | None) -> EmbedderIdentity:
        try:
            loaded = await self._threads.run(self._model, embedder)
        except RagstoneError as error:
            if embedder not in self.failures:
                log.error("model_not_loaded", why=error.detail)
            self.failures[embedder] = error
            raise
        self.failures.pop(embedder, None)
        if embedder is None:
            self._configured = loaded
        return loaded

    def _model(self, embedder: EmbedderIdentity | None) -> EmbedderIdentity:
        try:
            model = self._embedders.new() if embedder is None else self._embedders.of(embedder)
        except RagstoneError:
            raise
        # Out of memory, a file that vanishes while it is read: torch and ONNX Runtime raise anything.
        except Exception as error:
            raise model_failed(error) from error
        return identity(model.spec)

    def _one_batch(self, waiting: list[_Questions]) -> list[_Questions]:
        """As many callers' questions for one embedder as fit one batch; at least one caller's."""
        taken: list[_Questions] = []
        for one in [one for one in waiting if one.embedder == waiting[0].embedder]:
            if taken and sum(len(other.texts) for other in (*taken, one)) > self._batch:
                break
            taken.append(one)
        waiting[:] = [one for one in waiting if one not in taken]
        return taken

    def _embed(self, batch: list[_Questions]) -> None:
        model = self._embedders.of(batch[0].embedder)
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
        model = self._embedders.of(work.embedder)
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
