"""Exporting beside a worker's work: another process, at the lowest priority, gone when the worker is."""

import os
import subprocess
import sys
import threading

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.export import BESIDE, wanting

log = get_logger(__name__)

_started: dict[str, "subprocess.Popen[bytes]"] = {}
"""By model: the process must be held on to, because it ends when its standard input is closed."""

_one_start = threading.Lock()


def export_beside(settings: EmbedderSettings) -> None:
    """Start the export of the configured model if it is missing; once a process, and never a reason to fail."""
    with _one_start:
        if settings.embedder in _started:
            return
        try:
            if not wanting(settings):
                return
            own = settings.model_dump(mode="json", exclude_none=True)
            environment = {**os.environ, **{f"RAGSTONE_{name.upper()}": str(value) for name, value in own.items()}}
            _started[settings.embedder] = subprocess.Popen(
                [sys.executable, "-m", "services.shared.models.export", BESIDE],
                stdin=subprocess.PIPE,
                env={**environment, "OMP_NUM_THREADS": "1"},
            )
        except (OSError, RagstoneError) as error:
            log.warning("export_not_started", why=str(error))
