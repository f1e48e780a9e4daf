"""A real worker with a model that takes its time or breaks, and a broker that is quick to hand messages out again.

``python -m tests.contract.ingestor.odd_worker`` with, in the environment: ``ODD_BATCH_S`` (pause after each batch of
the model, seconds), ``ODD_BREAKS`` (while this file is there, the model breaks at the third batch of a call), and
``ODD_VISIBILITY_S`` (Redis' visibility time-out, seconds), and ``ODD_ACK`` (the process that is the first to make this
file cannot acknowledge its first message, as when Redis is lost at that moment).
"""

import os
import runpy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from celery import Celery
from kombu.transport.redis import QoS

from services.shared.kit import queue
from services.shared.models.embedder import Embedder, Vectors


def slow_or_broken(embed: Callable[..., Vectors]) -> Callable[..., Vectors]:
    """The same with pauses between its batches, or an error after the second."""
    pause_s, breaks = float(os.environ.get("ODD_BATCH_S", "0")), os.environ.get("ODD_BREAKS")

    def embed_documents(
        self: Embedder, texts: Sequence[str], keep_going: Callable[[int], bool] | None = None
    ) -> Vectors:
        batches = 0

        def after_batch(done: int) -> bool:
            nonlocal batches
            batches += 1
            if breaks and batches == 2 and Path(breaks).exists():
                raise RuntimeError("the model broke at its third batch")
            time.sleep(pause_s)
            return keep_going is None or keep_going(done)

        return embed(self, texts, after_batch)

    return embed_documents


def soon_visible(make: Callable[..., Celery]) -> Callable[..., Celery]:
    """The same application with the time-out that the environment names."""

    def celery_app(*settings: Any) -> Celery:
        app = make(*settings)
        seconds = float(os.environ.get("ODD_VISIBILITY_S", "3600"))
        app.conf.broker_transport_options = {**app.conf.broker_transport_options, "visibility_timeout": seconds}
        return app

    return celery_app


def fails_once(ack: Callable[..., None], mark: Path) -> Callable[..., None]:
    """The same, but for the first time."""

    def acknowledge(self: QoS, tag: str) -> None:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            ack(self, tag)
        else:
            raise ConnectionError("Connection closed by server.")

    return acknowledge


if __name__ == "__main__":
    if mark := os.environ.get("ODD_ACK"):
        QoS.ack = fails_once(QoS.ack, Path(mark))
    # The children are forked, and so have it too.
    Embedder.embed_documents = slow_or_broken(Embedder.embed_documents)  # type: ignore[method-assign]
    queue.celery_app = soon_visible(queue.celery_app)
    sys.argv = ["ragstone", "worker"]
    runpy.run_module("services.ingestor", run_name="__main__")
