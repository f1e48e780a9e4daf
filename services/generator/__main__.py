"""`python -m services.generator` serves the generator."""

import uvicorn

from services.generator.app import create_app
from services.generator.settings import GeneratorSettings
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import LogSettings, TraceSettings, started
from services.shared.kit.tracing import configure_tracing


def main() -> None:
    """Serve until told to stop."""
    configure_logs("generator", LogSettings())
    configure_tracing("generator", TraceSettings())
    settings = GeneratorSettings()
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.generator_port,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=5,
    )


if __name__ == "__main__":
    started(main)
