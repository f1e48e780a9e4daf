"""The story of checking claims against texts."""

from services.retriever.ports import Grounder
from services.shared.contracts.grounding import GroundRequest, GroundResponse


class ClaimCheck:
    """Tells whether texts support claims, for services that hold no model."""

    def __init__(self, grounder: Grounder) -> None:
        self._grounder = grounder

    async def ground(self, request: GroundRequest) -> GroundResponse:
        """What the model holds of each pair, in their order. No pair, no model."""
        if not request.pairs:
            return GroundResponse(groundings=[])
        return GroundResponse(groundings=await self._grounder.ground(request.pairs))
