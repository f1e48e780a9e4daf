"""What may be acted on: only what looked wrong twice, long enough apart that no work under way can still explain it."""

from collections.abc import Collection

from services.shared.contracts.ids import SpaceId, VersionId


class Suspects:
    """Versions with which something seems to be wrong, with the time since when."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._since: dict[tuple[SpaceId, VersionId], float] = {}

    def ripe(self, space: SpaceId, seen: Collection[VersionId], now: float) -> list[VersionId]:
        """Those of the versions seen now that were so for the whole grace period; one not seen is forgotten."""
        known = {key: since for key, since in self._since.items() if key[0] != space}
        for version in seen:
            known[space, version] = self._since.get((space, version), now)
        self._since = known
        return sorted(version for version in seen if now - known[space, version] >= self._grace_s)

    def watches(self, space: SpaceId) -> bool:
        """Was any version of the space seen at the last look?"""
        return any(key[0] == space for key in self._since)
