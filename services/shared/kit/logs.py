"""Logging: one line an event, with the request's id in every service."""

import logging
import sys

import structlog

from services.shared.kit.settings import LogSettings


def configure_logs(service: str, settings: LogSettings) -> None:
    """Send every log line, ours and the libraries', to standard error in one form."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _named(service),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.StackInfoRenderer(),
    ]
    as_json = settings.log_format == "json"
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
            )
        ]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    logging.captureWarnings(True)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for chatty in (
        *("httpx", "httpcore", "chromadb", "sentence_transformers", "uvicorn.access", "watchfiles", "alembic"),
        *("mcp", "sse_starlette"),
    ):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    for own in ("uvicorn", "uvicorn.error"):
        logging.getLogger(own).handlers[:] = []
        logging.getLogger(own).propagate = True
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _named(service: str) -> structlog.typing.Processor:
    """Names the service in every line, also of threads, which begin with a context of their own."""

    def add(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        event["service"] = service
        return event

    return add


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger that takes an event and named values: ``log.info("job_done", job_id=…)``."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
