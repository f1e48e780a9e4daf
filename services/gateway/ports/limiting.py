"""What limits need from outside: counts that all gateways share."""

from typing import Protocol

from services.gateway.domain.limiting import Charge, Standing


class Rates(Protocol):
    """Counts over a sliding window. All raise RagstoneError (limits_unavailable) where nothing can be counted."""

    async def hit(self, charge: Charge, cost: int = 1) -> Standing:
        """Count a request, unless it is too many; ``allowed`` says which."""
        ...

    async def give_back(self, charge: Charge, cost: int, wanted: int) -> Standing:
        """Take out what was counted of a request that is refused after all; how long ``wanted`` have to wait."""
        ...
