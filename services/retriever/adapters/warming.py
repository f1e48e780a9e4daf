"""Has the models at hand before a question needs them."""

import asyncio

from services.retriever.adapters.ahead import LoadedAhead
from services.retriever.adapters.grounder import QueuedGrounder
from services.retriever.adapters.readiness import ReadinessCheck
from services.shared.contracts.health import PartHealth


class Warming:
    """Loads the embedders of the indexes, and the model that claims are checked with."""

    def __init__(self, ahead: LoadedAhead, grounder: QueuedGrounder, readiness: ReadinessCheck) -> None:
        self._ahead = ahead
        self._grounder = grounder
        self._readiness = readiness

    async def warm_up(self) -> PartHealth:
        """Until they are here; which are. Raises RagstoneError (catalog_unavailable, model_unavailable, busy)."""
        # No pair to judge, but its thread loads the model all the same.
        await asyncio.gather(self._ahead.look(), self._grounder.ground([]))
        return (await self._readiness.now()).parts["model"]
