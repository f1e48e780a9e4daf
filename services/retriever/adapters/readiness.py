"""Whether the retriever can work, part by part, and the look over all indexes at the start."""

import asyncio
from collections.abc import Awaitable

from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.records import CatalogRecords
from services.retriever.adapters.vectors import ChromaVectors
from services.retriever.domain.compatible import described
from services.retriever.domain.hits import EmbedderIdentity, ServingIndex
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import EmbedderSettings

log = get_logger(__name__)

PATIENCE_S = 1.5
"""Less than who asks has for all of this, so that the part at fault is named."""
AGAIN_S = 2.0

LOADING = "loading; wait a few seconds"
WORDS_ONLY = "Until then exact words alone answer its questions"


class ReadinessCheck:
    """Asks the models, the catalog and the vector store, at the same time."""

    def __init__(
        self,
        embedder: QueuedEmbedder,
        configured: EmbedderSettings,
        records: CatalogRecords,
        vectors: ChromaVectors,
    ) -> None:
        self._embedder = embedder
        self._configured = configured
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
        """One index that cannot be searched among others that can is named. Where none can, exact words answer, and a
        model for new indexes is all that is waited for."""
        needed = list(dict.fromkeys(index.embedder for index in sorted(serving, key=lambda index: index.space)))
        here = [one for one in needed if self._embedder.loaded(one)]
        failed = [one for one in needed if one not in here and one in self._embedder.failures]
        said = [f"{one.name}, {self._embedder.engine(one)}" for one in here]
        said += [f"{_named(one, serving)}: {self._embedder.failures[one].detail} {WORDS_ONLY}" for one in failed]
        said += [self._other_than_configured(one, serving) for one in needed if not self._is_configured(one)]
        if here:
            return PartHealth(ready=True, detail="; ".join(said))
        if len(failed) < len(needed):
            return PartHealth(ready=False, detail=LOADING)
        for_new = self._for_new_indexes()
        return PartHealth(ready=for_new.ready, detail="; ".join([*said, for_new.detail]))

    def _for_new_indexes(self) -> PartHealth:
        configured = self._embedder.configured
        if configured is not None and self._embedder.loaded(configured):
            return PartHealth(ready=True, detail=f"{configured.name}, {self._embedder.engine(configured)}")
        failure = self._embedder.failures.get(None)
        return PartHealth(ready=False, detail=failure.detail if failure else LOADING)

    def _is_configured(self, embedder: EmbedderIdentity) -> bool:
        wanted = self._configured
        return (
            wanted.embedder == embedder.name
            and wanted.embedder_query_prompt in (None, embedder.query_prompt)
            and wanted.embedder_document_prompt in (None, embedder.document_prompt)
        )

    def _other_than_configured(self, embedder: EmbedderIdentity, serving: list[ServingIndex]) -> str:
        wanted = self._configured
        prompts = (wanted.embedder_query_prompt, wanted.embedder_document_prompt)
        prompted = "" if prompts == (None, None) else f" with prompts {prompts[0]!r} and {prompts[1]!r}"
        return (
            f"{_named(embedder, serving)} was made by {described(embedder)}, which goes on embedding its questions and "
            f"texts, while RAGSTONE_EMBEDDER names {wanted.embedder}{prompted} for new spaces: to have one for all, "
            f"set it to {embedder.name}, or build the index anew with 'ragstone reembed'"
        )


def _named(embedder: EmbedderIdentity, serving: list[ServingIndex]) -> str:
    """The indexes that were made by the embedder."""
    spaces = sorted(index.space for index in serving if index.embedder == embedder)
    if len(spaces) == 1:
        return f"the index of space {spaces[0]}"
    return f"the index of {len(spaces)} spaces, {spaces[0]} among them,"


async def _part(asking: Awaitable[None], well: str) -> PartHealth:
    try:
        await asyncio.wait_for(asking, PATIENCE_S)
    except RagstoneError as error:
        return PartHealth(ready=False, detail=error.detail)
    except TimeoutError:
        return PartHealth(ready=False, detail=f"no answer within {PATIENCE_S:g} seconds; look at its log")
    return PartHealth(ready=True, detail=well)
