"""Small real models, and one export of each that is wanted."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.shared.kit.settings import EmbedderSettings

from . import tiny


@dataclass(frozen=True)
class Together:
    """What two workers left that exported one model at the same time."""

    settings: EmbedderSettings
    returned: list[int]
    logs: list[str]


@pytest.fixture(scope="session")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a prompt for questions and one for passages."""
    return tiny.role_model(tmp_path_factory.mktemp("roles"))


@pytest.fixture(scope="session")
def together(roles: Path, tmp_path_factory: pytest.TempPathFactory) -> Together:
    """The model, exported by two processes at once."""
    settings = EmbedderSettings(embedder=str(roles), model_cache=tmp_path_factory.mktemp("cache"))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")},
        "RAGSTONE_EMBEDDER": settings.embedder,
        "RAGSTONE_MODEL_CACHE": str(settings.model_cache),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "services.shared.models.export"]
    both = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    logs = [one.communicate(timeout=300)[1] for one in both]
    return Together(settings, [one.returncode for one in both], logs)
