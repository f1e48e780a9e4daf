"""``python -m services.retriever``: serve until stopped."""

import uvicorn

from services.retriever.app import create_app
from services.retriever.settings import Settings
from services.shared.kit.logs import configure_logs


def main() -> None:
    """Configure the logs and run the server."""
    settings = Settings()
    configure_logs("retriever", settings.log)
    uvicorn.run(
        create_app(settings),
        host=settings.own.host,
        port=settings.own.retriever_port,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=5,
    )


if __name__ == "__main__":
    main()
