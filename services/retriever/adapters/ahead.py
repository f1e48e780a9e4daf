"""The models that are going to be needed, loaded before a question needs them: a switch of indexes costs no query."""

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.records import CatalogRecords
from services.retriever.domain.hits import EmbedderIdentity
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger

if TYPE_CHECKING:
    from services.shared.models.embedders import Embedders, Key

log = get_logger(__name__)

EVERY_S = 2.0

RETRY_S = 30.0
"""Before a model that could not be loaded is tried again without anybody asking for it."""


class LoadedAhead:
    """Looks at the catalog every two seconds. Models of no index are let go, except that which claims are checked with.

    Loads as many as are kept at a time, those of serving indexes first, and never lets one go to load another.
    """

    def __init__(
        self,
        embedder: QueuedEmbedder,
        embedders: "Embedders",
        records: CatalogRecords,
        *,
        claims_model: "Key | None",
    ) -> None:
        self._embedder = embedder
        self._embedders = embedders
        self._records = records
        self._others = set() if claims_model is None else {claims_model}
        self._tried: dict[EmbedderIdentity | None, float] = {}

    async def run(self) -> None:
        """Look, again and again. A catalog that does not answer is said by whoever is asked."""
        while True:
            with suppress(RagstoneError):
                await self.look()
            await asyncio.sleep(EVERY_S)

    async def look(self) -> None:
        """Load what is needed and not here, let go of what is not needed. Raises RagstoneError for the catalog."""
        wanted = list(dict.fromkeys(index.embedder for index in await self._records.in_use()))
        for embedder in wanted:
            await self._load(embedder)
        if all(embedder in self._embedder.failures for embedder in wanted):
            await self._load(None)
        keep = {(one.name, one.revision) for one in wanted} | self._others
        configured = self._embedder.configured
        if configured is not None and not any(self._embedder.loaded(one) for one in wanted):
            keep.add((configured.name, configured.revision))
        self._embedders.let_go(all_but=keep)

    async def _load(self, embedder: EmbedderIdentity | None) -> None:
        known = self._embedder.configured if embedder is None else embedder
        if known is not None and self._embedder.loaded(known):
            return
        if not self._embedders.room or time.monotonic() - self._tried.get(embedder, -RETRY_S) < RETRY_S:
            return
        try:
            await self._embedder.load(embedder)
            self._tried.pop(embedder, None)
        except RagstoneError:
            self._tried[embedder] = time.monotonic()
