"""What may be acted on: only what looked wrong twice, long enough apart that no work under way can still explain it."""

from collections.abc import Collection

from services.shared.contracts.ids import IndexId, VersionId


class Suspects:
    """Versions with which something seems to be wrong, with the time since when."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._since: dict[tuple[IndexId, VersionId], float] = {}

    def ripe(self, index: IndexId, seen: Collection[VersionId], now: float) -> list[VersionId]:
        """Those of the versions seen now that were so for the whole grace period; one not seen is forgotten."""
        known = {key: since for key, since in self._since.items() if key[0] != index}
        for version in seen:
            known[index, version] = self._since.get((index, version), now)
        self._since = known
        return sorted(version for version in seen if now - known[index, version] >= self._grace_s)

    def watches(self, index: IndexId) -> bool:
        """Was any version of the index seen at the last look?"""
        return any(key[0] == index for key in self._since)
