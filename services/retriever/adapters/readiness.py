"""Whether the retriever can work, part by part, and the look over all indexes at the start."""

import asyncio
from collections.abc import Awaitable

from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.records import CatalogRecords
from services.retriever.adapters.vectors import ChromaVectors
from services.retriever.domain.hits import EmbedderIdentity, ServingIndex
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

PATIENCE_S = 3.0
AGAIN_S = 2.0


class ReadinessCheck:
    """Asks the model, the catalog and the vector store, at the same time."""

    def __init__(self, embedder: QueuedEmbedder, records: CatalogRecords, vectors: ChromaVectors) -> None:
        self._embedder = embedder
        self._records = records
        self._vectors = vectors

    async def now(self) -> Readiness:
        """Each part named; ready only when every part is."""
        serving: list[ServingIndex] = []

        async def look() -> None:
            serving.extend(await self._records.serving())

        catalog, vectors = await asyncio.gather(_part(look(), "answers"), _part(self._vectors.ping(), "answers"))
        if vectors.ready:
            vectors = await self._fit(len(serving))
        parts = {"model": self._model(serving), "catalog": catalog, "vectors": vectors}
        return Readiness(ready=all(part.ready for part in parts.values()), parts=parts)

    async def prepare(self) -> None:
        """Make the catalog's tables, however long that takes, then open every index and log those that do not fit."""
        while True:
            try:
                await self._records.migrate()
                serving = await self._records.serving()
                break
            except RagstoneError as error:
                log.error("catalog_not_ready", why=error.detail)
                await asyncio.sleep(AGAIN_S)
        for index in serving:
            try:
                await self._vectors.check(index)
            except RagstoneError as error:
                log.error("index_not_usable", space=index.space, index=index.id, why=error.detail)

    async def _fit(self, serving: int) -> PartHealth:
        """Not ready when no index can be used; one that cannot among others that can is named."""
        unfit = await self._vectors.still_unfit()
        if not unfit:
            return PartHealth(ready=True, detail="answers")
        return PartHealth(ready=len(unfit) < serving, detail=unfit[0].detail)

    def _model(self, serving: list[ServingIndex]) -> PartHealth:
        """A loaded model is ready even if no index was made with it: BM25 answers then, and what to do is said."""
        loaded = self._embedder.spec
        if loaded is None:
            failure = self._embedder.failure
            return PartHealth(ready=False, detail=failure.detail if failure else "loading; wait a few seconds")
        foreign = sorted((index for index in serving if index.embedder != loaded), key=lambda index: index.space)
        if not foreign:
            return PartHealth(ready=True, detail=f"{loaded.name}, {self._embedder.engine}")
        detail = f"{_described(loaded)} is loaded, but the index of {_named(foreign)} was made by "
        detail += f"{_described(foreign[0].embedder)}: set RAGSTONE_EMBEDDER back, or build the index anew"
        return PartHealth(ready=True, detail=detail)


def _named(indexes: list[ServingIndex]) -> str:
    if len(indexes) == 1:
        return f"space {indexes[0].space}"
    return f"{len(indexes)} spaces, {indexes[0].space} among them,"


def _described(embedder: EmbedderIdentity) -> str:
    prompts = f", prompts {embedder.query_prompt!r} and {embedder.document_prompt!r}"
    prompted = prompts if embedder.query_prompt or embedder.document_prompt else ""
    return f"{embedder.name} (revision {embedder.revision[:12]}, dimension {embedder.dimension}{prompted})"


async def _part(asking: Awaitable[None], well: str) -> PartHealth:
    try:
        await asyncio.wait_for(asking, PATIENCE_S)
    except RagstoneError as error:
        return PartHealth(ready=False, detail=error.detail)
    except TimeoutError:
        return PartHealth(ready=False, detail=f"no answer within {PATIENCE_S:.0f} seconds; look at its log")
    return PartHealth(ready=True, detail=well)
