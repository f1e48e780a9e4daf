"""A model is the same under the names that servers give it."""

import pytest

from services.ingestor.domain.models import same_model


@pytest.mark.parametrize(
    "name", ["Small-Writer", "small-writer:latest", "/models/small-writer.gguf", "hub/Small-Writer", " small-writer "]
)
def test_spelling_makes_no_other_model(name: str) -> None:
    assert same_model(name, "small-writer")
    assert same_model("small-writer", name)


@pytest.mark.parametrize("name", ["small-writer:7b", "small", "small-writer-2", ""])
def test_another_name_is_another_model(name: str) -> None:
    assert not same_model(name, "small-writer")
