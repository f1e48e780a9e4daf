"""The doors of the public API for gaps: questions that the content does not answer."""

from services.local.api import Api
from services.local.doors import step
from services.shared.contracts.gaps import AddedFact, Gap, GapList, GapState, NewFact


class GapApi:
    """Raises what Api raises; invalid_request also for what cannot be an id."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def gaps(self, state: GapState | None = None, limit: int = 20) -> GapList:
        """Those that were asked for most often."""
        params = {"limit": str(limit)} | ({} if state is None else {"state": state.value})
        return self._api.message(GapList, "GET", "/v1/gaps", params=params)

    def add_fact(self, gap_id: str, fact: NewFact) -> AddedFact:
        """Say what is true; a job brings it in."""
        body = fact.model_dump(mode="json", exclude_none=True)
        return self._api.message(AddedFact, "POST", f"/v1/gaps/{step(gap_id)}/fact", json=body)

    def dismiss(self, gap_id: str) -> Gap:
        """Lay it aside."""
        return self._api.message(Gap, "POST", f"/v1/gaps/{step(gap_id)}/dismiss")

    def reopen(self, gap_id: str) -> Gap:
        """Take it up again."""
        return self._api.message(Gap, "POST", f"/v1/gaps/{step(gap_id)}/reopen")
