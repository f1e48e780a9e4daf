"""A bounded line of waiting work, and the one thread that does it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

RETRY_AFTER_S = 2


class Work(Protocol):
    """Something that a caller waits for."""

    @property
    def future(self) -> "Future[Any]":
        """Where the caller gets the result, or the failure; cancelled when the caller left."""


W = TypeVar("W", bound=Work)


class Lane(Generic[W]):
    """At most ``limit`` callers wait; the next is told at once that the model is busy. Who leaves takes its waiting
    work along. ``take`` removes from the line what is done in one go; ``do`` does it, and gives each future its
    result.
    """

    def __init__(
        self,
        name: str,
        *,
        limit: int,
        take: Callable[[list[W]], list[W]],
        do: Callable[[list[W]], object],
    ) -> None:
        self._limit = limit
        self._take = take
        self._do = do
        self._wake = threading.Condition()
        self._waiting: list[W] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.closed = False

    @property
    def waiting(self) -> int:
        """Callers in line."""
        return len(self._waiting)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no more work; ``wait`` then waits for what is under way."""
        with self._wake:
            self.closed = True
            self._wake.notify()

    def wait(self, timeout_s: float) -> None:
        """Until the thread has ended; whoever waited in line is told that the service stops."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def put(self, work: W) -> None:
        """Wait in line; raises BUSY when it is full."""
        with self._wake:
            self._forget_the_gone()
            if self.closed:
                raise stopping()
            if len(self._waiting) >= self._limit:
                raise too_many(self._limit)
            self._waiting.append(work)
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self.closed or self._waiting)
                if self.closed:
                    break
                self._forget_the_gone()
                taken = self._take(self._waiting)
            if taken:
                self._attempt(taken)
        for work in self._waiting:
            fail(work, stopping())

    def _attempt(self, works: list[W]) -> None:
        """What goes wrong goes to the callers who wait for it, and the thread lives on."""
        try:
            self._do(works)
        except RagstoneError as error:
            failure = error
        # Out of memory, a broken weight file: torch and ONNX Runtime raise anything.
        except Exception as error:
            failure = model_failed(error)
        else:
            return
        for work in works:
            fail(work, failure)

    def _forget_the_gone(self) -> None:
        self._waiting[:] = [one for one in self._waiting if not one.future.cancelled()]


def fail(work: Work, error: RagstoneError) -> None:
    """Tell the caller, if it is still there."""
    if not work.future.done() and work.future.set_running_or_notify_cancel():
        work.future.set_exception(error)


def model_failed(error: Exception) -> RagstoneError:
    """What went wrong in a library, for those who wait; the log has all of it."""
    log.exception("embedding_failed")
    detail = f"The embedding model failed ({type(error).__name__}: {error}); see the retriever's log."
    return RagstoneError(ErrorCode.MODEL_UNAVAILABLE, detail)


def too_many(limit: int) -> RagstoneError:
    """What one more is told when ``limit`` callers wait."""
    detail = f"{limit} requests wait for the embedding model already; ask again in a moment."
    return RagstoneError(ErrorCode.BUSY, detail, retry_after_s=RETRY_AFTER_S)


def stopping() -> RagstoneError:
    """What whoever waits is told at the end."""
    return RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "The retriever is stopping; ask again.", retry_after_s=5)
