"""What may be swept: only what looked unused twice, long enough apart that no worker can still mean it."""

from collections.abc import Collection

from services.shared.contracts.ids import SpaceId, VersionId


class Suspects:
    """Versions that nothing seems to need, with the time since when."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._since: dict[tuple[SpaceId, VersionId], float] = {}

    def ripe(self, space: SpaceId, unused: Collection[VersionId], now: float) -> list[VersionId]:
        """Those of the unused versions that have been so for the whole grace period."""
        known = {key: since for key, since in self._since.items() if key[0] != space}
        for version in unused:
            known[space, version] = self._since.get((space, version), now)
        self._since = known
        return sorted(version for version in unused if now - known[space, version] >= self._grace_s)
