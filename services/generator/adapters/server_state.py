"""What the looks at a model's server have found, and what that comes to."""

from services.shared.contracts.health import PartHealth


class ServerState:
    """Usable once the model was found and, after a warm-up was begun, loaded; cold again when the server breaks off."""

    def __init__(self, *, detail: str, wanted: bool) -> None:
        self._found = PartHealth(ready=False, detail=detail)
        self._warm = False
        self._hindered: str | None = None
        self.wanted = wanted
        """Whether the server's absence is worth telling: it was asked for, or it has been there before."""
        self.obeys_schema: bool | None = None
        """Whether the trial saw a reply keep to its schema; None when there was none."""

    @property
    def cold(self) -> bool:
        """Whether the model is there but was not seen to work since."""
        return self._found.ready and not self._warm

    def health(self) -> PartHealth:
        """Whether questions may be put to the model, and what is served or wrong."""
        if not self._found.ready:
            return self._found
        if self._hindered:
            return PartHealth(ready=False, detail=self._hindered)
        if self.obeys_schema is None:
            return self._found
        kept = "keeps replies to a schema" if self.obeys_schema else "ignores a reply's schema, so is asked plainly"
        return PartHealth(ready=True, detail=f"{self._found.detail}; {kept}")

    def found(self, detail: str) -> None:
        """The server answers and holds the model."""
        self._found = PartHealth(ready=True, detail=detail)
        self.wanted = True

    def lost(self, why: str) -> None:
        """The server does not answer, or not with the model."""
        self._found = PartHealth(ready=False, detail=why)
        self._warm, self._hindered, self.obeys_schema = False, None, None

    def loading(self) -> None:
        """A warm-up has begun; a model that is warm stays usable meanwhile."""
        if not self._warm:
            self._hindered = f"{self._found.detail} is being loaded."

    def loaded(self, *, obeys_schema: bool | None) -> None:
        """The warm-up is over, and the model works."""
        self._warm, self._hindered = True, None
        self.obeys_schema = obeys_schema

    def not_loaded(self, why: str) -> None:
        """The warm-up failed."""
        self._warm, self._hindered = False, why

    def broke_off(self) -> None:
        """The server failed at a question: it may have been started anew, with nothing loaded."""
        self._warm = False
