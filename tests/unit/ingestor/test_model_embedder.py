"""How the model's failures reach the flow."""

from collections.abc import Sequence

import pytest

from services.ingestor.adapters.embedder import ModelEmbedder
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.embedder import Embedder, ModelSpec


class TimeUp(Exception):
    """What a queue raises in the middle of the work."""


def embed(error: Exception, under: Exception | None = None) -> None:
    """With a model that cannot even be had."""

    def model() -> Embedder:
        try:
            if under is not None:
                raise under
        finally:
            raise error

    ModelEmbedder(model, TimeUp).embed(["a text"], lambda _: True)


def test_the_end_of_the_time_is_seen_through_an_error_that_it_set_off() -> None:
    with pytest.raises(TimeUp):
        embed(AssertionError(), under=TimeUp())


def test_a_failure_of_the_model_itself_names_what_happened() -> None:
    with pytest.raises(RagstoneError, match="AssertionError: shapes") as caught:
        embed(AssertionError("shapes"))
    assert caught.value.code is ErrorCode.INTERNAL


def test_the_prompt_takes_its_share_of_what_the_model_reads_of_a_chunk() -> None:
    class Words:
        def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
            return [len(text.split()) + 2 for text in texts]

    for prompt, expected in (("", 512), ("a passage: ", 510)):
        spec = ModelSpec("some-model", "0" * 64, 4, "", prompt, 512)
        model = Embedder(Words(), spec, 8, "none")  # type: ignore[arg-type]
        assert ModelEmbedder(lambda model=model: model, TimeUp).max_tokens() == expected  # type: ignore[misc]
