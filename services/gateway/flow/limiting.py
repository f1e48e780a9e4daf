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

    async def charge(self, caller: Caller, kind: Kind, cost: int = 1, *, counted: int = 0) -> Standing | None:
        """Count a request, or so many questions in one; the limit that is nearest, None where there is none.

        ``counted``: so much of it was counted before. A refused one has ``allowed`` false and costs nothing. Raises
        RagstoneError (limits_unavailable).
        """
        nearest: Standing | None = None
        due = charges(caller, kind, self._rules)
        for n, charge in enumerate(due):
            found = await self._rates.hit(charge, cost - counted)
            if not found.allowed:
                for earlier in due[:n]:
                    await self._rates.give_back(earlier, cost, cost)
                if not counted:
                    return found
                for later in due[n + 1 :]:
                    await self._rates.give_back(later, counted, cost)
                return await self._rates.give_back(charge, counted, cost)
            if nearest is None or found.remaining < nearest.remaining:
                nearest = found
        return nearest

    async def a_key_was_wrong(self, address: str) -> None:
        """Count a wrong key against its address. Raises RagstoneError (rate_limited) when it is one too many.

        Right keys from there pass: many may share the address, and Ragstone's own processes too.
        """
        found = await self._rates.hit(Charge("wrong_keys", self._rules.wrong_keys, f"address {household(address)}"))
        if not found.allowed:
            detail = (
                f"This key opens nothing, and too many such came from this address ({found.allowance} are allowed). "
                f"Correct the key and try again in {found.reset_s} s; right keys are let in meanwhile."
            )
            raise RagstoneError(ErrorCode.RATE_LIMITED, detail, retry_after_s=found.reset_s)

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


def too_many(standing: Standing, cost: int = 1) -> RagstoneError:
    """The error that a refused request is answered with; waiting does not help one that alone is over the limit."""
    if cost > standing.limit:
        detail = (
            f"The body holds {cost} questions, and the limit of this caller is {standing.limit}; "
            f"send at most {standing.limit} lines at once."
        )
        return RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    detail = (
        f"Too many requests: {standing.allowance} are allowed, and {standing.remaining} are left; "
        f"wait {standing.reset_s} s."
    )
    return RagstoneError(ErrorCode.RATE_LIMITED, detail, retry_after_s=standing.reset_s)
