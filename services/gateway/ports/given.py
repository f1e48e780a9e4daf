"""What giving an answer again needs from outside."""

from dataclasses import dataclass
from typing import Protocol

from services.gateway.domain.given import Given, Standing, Ways
from services.shared.contracts.ids import SpaceId


class Standings(Protocol):
    """The catalog's word on what a space holds."""

    async def standing(self, space: SpaceId) -> Standing:
        """At this moment; raises RagstoneError (catalog_unavailable)."""
        ...


class WaysInUse(Protocol):
    """The other services' word on how they answer."""

    async def now(self) -> Ways | None:
        """At most a few seconds old; None where it is not known. Neither fails nor takes long."""
        ...


class GivenAnswers(Protocol):
    """Answers of the last while, by their fingerprints. None of its methods fails, and none takes long."""

    async def find(self, space: SpaceId, fingerprint: str) -> Given | None:
        """None when it is not there, or cannot be read."""
        ...

    async def keep(self, space: SpaceId, fingerprint: str, given: Given) -> bool:
        """Keep it, to be erased with any of its documents; False when it is not kept."""
        ...

    async def drop(self, space: SpaceId, fingerprint: str) -> None:
        """Do not keep it after all."""
        ...


@dataclass(frozen=True)
class Reuse:
    """The three together."""

    standings: Standings
    ways: WaysInUse
    given: GivenAnswers
