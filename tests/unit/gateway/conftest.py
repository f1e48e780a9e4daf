"""Logs of these tests: without the coloured tracebacks, which take seconds to draw."""

import pytest

from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import LogSettings


@pytest.fixture(scope="session", autouse=True)
def _plain_logs() -> None:
    configure_logs("gateway", LogSettings(log_format="json"))
