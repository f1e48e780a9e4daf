"""The doors of the public API that build and switch indexes."""

from services.local.api import Api
from services.local.doors import step
from services.shared.contracts.indexes import Index, IndexList, NewIndex, Promotion

PATH = "/v1/indexes"
SWITCH_TIMEOUT_S = 60.0
"""The gateway waits for a switch, about 30 seconds at most."""


class IndexApi:
    """Raises what Api raises."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def all(self) -> IndexList:
        """The serving one first."""
        return self._api.message(IndexList, "GET", PATH)

    def one(self, index_id: str) -> Index:
        """One index."""
        return self._api.message(Index, "GET", f"{PATH}/{step(index_id)}")

    def start(self, wanted: NewIndex) -> Index:
        """Build one in the background."""
        return self._api.message(Index, "POST", PATH, json=wanted.model_dump(mode="json"))

    def promote(self, index_id: str, *, force: bool) -> Index:
        """Let it serve, at once or as soon as it is level."""
        body = Promotion(force=force).model_dump(mode="json")
        path = f"{PATH}/{step(index_id)}/promote"
        return self._api.message(Index, "POST", path, json=body, timeout=SWITCH_TIMEOUT_S)

    def rollback(self) -> Index:
        """Let the one that served before serve again."""
        return self._api.message(Index, "POST", f"{PATH}/rollback", timeout=SWITCH_TIMEOUT_S)

    def remove(self, index_id: str) -> Index:
        """Give one up that does not serve."""
        return self._api.message(Index, "DELETE", f"{PATH}/{step(index_id)}")
