"""The real model, loaded once; a fresh catalog for each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedders import Embedders
from tests.contract.ingestor.site import Site


@pytest.fixture(scope="session")
def models() -> Embedders:
    os.environ["OMP_NUM_THREADS"] = "1"
    return Embedders(EmbedderSettings())


@pytest.fixture
def site(tmp_path: Path, chroma_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A fresh installation in the environment's settings; its Redis database is emptied."""
    opened = Site(tmp_path, chroma_url, redis_url)
    for name, value in opened.environment().items():
        monkeypatch.setenv(name, value)
    opened.open()
    yield opened
    opened.close()
