"""``python -m services.retriever``: serve until stopped."""

import gc
from functools import partial

from services.retriever.settings import Settings
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import TraceSettings, started
from services.shared.kit.tracing import configure_tracing
from services.shared.models.embedders import Embedders


def main() -> None:
    """Configure the logs and run the server.

    A start is reading the model and importing the rest, so the two are done side by side.
    """
    # What is imported stays: looking through it for garbage takes a tenth of a start, and time from every search.
    gc.disable()
    settings = Settings()
    configure_logs("retriever", settings.log)
    configure_tracing("retriever", TraceSettings())
    embedders = Embedders(settings.embedder, kept=settings.own.embedders_kept)
    embedders.begin()

    import uvicorn

    from services.retriever.app import create_app
    from services.retriever.wiring import refuse_newer_catalog, running

    refuse_newer_catalog(settings)
    app = create_app(settings, partial(running, embedders=embedders))
    gc.freeze()
    gc.enable()
    uvicorn.run(
        app,
        host=settings.own.host,
        port=settings.own.retriever_port,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=5,
    )


if __name__ == "__main__":
    started(main)
