"""How requests are held to their limits: by key, by address, and by answers under way."""

from services.gateway.domain.callers import Caller
from services.gateway.domain.limiting import Charge, Kind, Rules, Standing, charges, household, identity
from services.gateway.domain.places import Places
from services.gateway.ports.limiting import Rates
from services.shared.contracts.errors import ErrorCode, RagstoneError


class LimitFlow:
    """Every limit on who asks how often. ``places`` says how many answers are under way."""

    def __init__(self, *, rates: Rates, rules: Rules, places: Places) -> None:
        self._rates = rates
        self._rules = rules
        self.places = places

    async def charge(self, caller: Caller, kind: Kind, cost: int = 1) -> Standing | None:
        """Count a request, or so many questions in one; the limit that is nearest, None where there is none.

        A refused one has ``allowed`` false, and goes into no further count. Raises RagstoneError
        (limits_unavailable).
        """
        nearest: Standing | None = None
        for charge in charges(caller, kind, self._rules):
            found = await self._rates.hit(charge, cost)
            if not found.allowed:
                return found
            if nearest is None or found.remaining < nearest.remaining:
                nearest = found
        return nearest

    async def before_a_key_is_looked_up(self, address: str) -> None:
        """Raises RagstoneError (rate_limited) for an address that has sent too many wrong keys."""
        _refuse_guessing(await self._rates.look(self._wrong_keys(address)))

    async def a_key_was_wrong(self, address: str) -> None:
        """Count a wrong key against its address. Raises RagstoneError (rate_limited) when it is one too many."""
        _refuse_guessing(await self._rates.hit(self._wrong_keys(address)))

    def take_place(self, caller: Caller) -> str | None:
        """A place among the answers under way, to be given back; None for those who need none.

        Raises RagstoneError (busy) when there is none, at once.
        """
        if caller.own:
            return None
        who = identity(caller)
        if not self.places.take(who, keyed=caller.key_id is not None):
            detail = "As many answers as may be made at once are under way; ask again in a moment."
            raise RagstoneError(ErrorCode.BUSY, detail, retry_after_s=1)
        return who

    def _wrong_keys(self, address: str) -> Charge:
        return Charge("wrong_keys", self._rules.wrong_keys, f"address {household(address)}")


def too_many(standing: Standing) -> RagstoneError:
    """The error that a refused request is answered with."""
    detail = (
        f"Too many at once: {standing.limit} are allowed, and {standing.remaining} left; wait {standing.reset_s} s."
    )
    return RagstoneError(ErrorCode.RATE_LIMITED, detail, retry_after_s=standing.reset_s)


def _refuse_guessing(standing: Standing) -> None:
    if not standing.allowed:
        detail = f"{standing.limit} wrong keys came from this address; correct the key, and wait {standing.reset_s} s."
        raise RagstoneError(ErrorCode.RATE_LIMITED, detail, retry_after_s=standing.reset_s)
