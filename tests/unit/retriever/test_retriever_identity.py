"""What of a model's specification makes its vectors comparable."""

from dataclasses import replace
from typing import Any

import pytest

from services.retriever.adapters.records import identity
from services.shared.catalog.indexes import EmbedderSpec

SPEC = EmbedderSpec("fake", "r1", 2, "query: ", "passage: ", 256)


@pytest.mark.parametrize(
    "different",
    [{"name": "other"}, {"revision": "r2"}, {"dimension": 3}, {"query_prompt": ""}, {"document_prompt": ""}],
)
def test_another_model_or_prompt_is_another_embedder(different: dict[str, Any]) -> None:
    assert identity(replace(SPEC, **different)) != identity(SPEC)
    assert identity(replace(SPEC)) == identity(SPEC)
