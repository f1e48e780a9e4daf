"""Models are at hand before a question needs them, and are let go when no index needs them any more."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from services.retriever.adapters import ahead
from services.retriever.adapters.ahead import LoadedAhead
from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.domain.hits import EmbedderIdentity, ServingIndex
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId

from .fakes import SPACE
from .slow import SlowModel, SlowModels

ONE, TWO, CLAIMS = (EmbedderIdentity(name, "r1", 2, "", "") for name in ("one", "two", "claims"))


class Catalog:
    """Stands for CatalogRecords: the embedders of the indexes that may be searched."""

    def __init__(self, *embedders: EmbedderIdentity) -> None:
        self.embedders = list(embedders)

    async def in_use(self) -> list[ServingIndex]:
        return [ServingIndex(IndexId(str(n)), SPACE, one) for n, one in enumerate(self.embedders)]


@pytest.fixture
def models() -> SlowModels:
    return SlowModels(*(SlowModel(name) for name in ("configured", "one", "two", "claims")))


@pytest.fixture
async def queue(models: SlowModels) -> AsyncIterator[QueuedEmbedder]:
    queue = QueuedEmbedder(models, waiting_limit=4, batch=4)  # type: ignore[arg-type]
    queue.start()
    yield queue
    queue.close()


def looking(queue: QueuedEmbedder, models: SlowModels, catalog: Catalog) -> LoadedAhead:
    claims = ("claims", "r1")
    return LoadedAhead(queue, models, catalog, claims_model=claims)  # type: ignore[arg-type]


async def test_what_serves_and_what_may_serve_next_is_loaded(queue: QueuedEmbedder, models: SlowModels) -> None:
    catalog = Catalog(ONE)
    look = looking(queue, models, catalog).look
    await look()
    assert models.here == {"one"}
    catalog.embedders.append(TWO)
    for _ in range(3):
        await look()
    assert models.loads == ["one", "two"]


async def test_what_no_index_needs_is_let_go_except_the_model_of_claims(
    queue: QueuedEmbedder, models: SlowModels
) -> None:
    catalog = Catalog(ONE, TWO)
    look = looking(queue, models, catalog).look
    models.of(CLAIMS)
    await look()
    catalog.embedders.remove(ONE)
    await look()
    assert models.here == {"two", "claims"}


async def test_before_the_first_index_the_configured_model_is_loaded(queue: QueuedEmbedder, models: SlowModels) -> None:
    catalog = Catalog()
    look = looking(queue, models, catalog).look
    await look()
    assert models.here == {"configured"}
    assert queue.configured is not None
    await look()
    catalog.embedders.append(ONE)
    await look()
    assert models.here == {"one"}


async def test_nothing_is_let_go_to_load_something_ahead(queue: QueuedEmbedder, models: SlowModels) -> None:
    models.of(ONE)
    models.room = False
    await looking(queue, models, Catalog(ONE, TWO)).look()
    assert models.here == {"one"}


async def test_one_that_cannot_be_loaded_is_tried_again_after_a_while_and_the_configured_one_taken_for_new_spaces(
    queue: QueuedEmbedder, models: SlowModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.error = RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "It is gone.")
    look = looking(queue, models, Catalog(ONE)).look
    for _ in range(3):
        await look()
    assert models.loads == ["one", "configured"]
    assert set(queue.failures) == {ONE, None}
    models.error = None
    monkeypatch.setattr(ahead, "RETRY_S", 0.0)
    await look()
    assert (models.here, queue.failures) == ({"one"}, {None: queue.failures[None]})


async def test_a_model_of_other_prompts_is_the_same_model(queue: QueuedEmbedder, models: SlowModels) -> None:
    await looking(queue, models, Catalog(ONE, replace(ONE, query_prompt="query: "))).look()
    assert models.loads == ["one"]
