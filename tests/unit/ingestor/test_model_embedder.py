"""How the model's failures reach the flow."""

import pytest

from services.ingestor.adapters.embedder import ModelEmbedder
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import LazyEmbedder


class TimeUp(Exception):
    """What a queue raises in the middle of the work."""


class Failing(LazyEmbedder):
    """A model that cannot even be had."""

    def __init__(self, error: Exception, under: Exception | None = None) -> None:
        super().__init__(EmbedderSettings())
        self._error, self._under = error, under

    def get(self):  # type: ignore[no-untyped-def]
        try:
            if self._under is not None:
                raise self._under
        finally:
            raise self._error


def embed(model: LazyEmbedder) -> None:
    ModelEmbedder(model, TimeUp).embed(["a text"], lambda _: True)


def test_the_end_of_the_time_is_seen_through_an_error_that_it_set_off() -> None:
    with pytest.raises(TimeUp):
        embed(Failing(AssertionError(), under=TimeUp()))


def test_a_failure_of_the_model_itself_names_what_happened() -> None:
    with pytest.raises(RagstoneError, match="AssertionError: shapes") as caught:
        embed(Failing(AssertionError("shapes")))
    assert caught.value.code is ErrorCode.INTERNAL
