"""The keys in the catalog."""

from datetime import datetime

from anyio.to_thread import run_sync

from services.gateway.ports.keys import KeyState, KnownKey
from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.keys import CreatedKey, Key, KeyList, NewKey
from services.shared.kit.logs import get_logger

log = get_logger(__name__)


class CatalogKeys:
    """Each method is one transaction in a thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def find(self, id: str) -> KnownKey | None:
        def read() -> KnownKey | None:
            with self._catalog.read() as tx:
                found = keys.find(tx, id)
            return None if found is None else KnownKey(found.key, found.hash, found.internal)

        return await run_sync(read)

    async def state(self, now: datetime) -> KeyState:
        def read() -> KeyState:
            with self._catalog.read() as tx:
                return KeyState(keys.any_made(tx), keys.public_origins(tx, now))

        return await run_sync(read)

    async def note_use(self, id: str, now: datetime) -> None:
        def write() -> None:
            with self._catalog.write() as tx:
                keys.note_use(tx, id, now)

        try:
            await run_sync(write)
        except RagstoneError as error:
            log.warning("use_of_key_not_noted", key=id, why=error.detail)

    async def page(self, *, limit: int, cursor: str | None) -> KeyList:
        def read() -> KeyList:
            with self._catalog.read() as tx:
                return keys.page(tx, limit=limit, cursor=cursor)

        return await run_sync(read)

    async def create(self, wanted: NewKey, now: datetime) -> CreatedKey:
        def write() -> CreatedKey:
            with self._catalog.write() as tx:
                return keys.create(tx, wanted, now)

        return await run_sync(write)

    async def revoke(self, id: str, now: datetime) -> Key:
        def write() -> Key:
            with self._catalog.write() as tx:
                return keys.revoke(tx, id, now)

        return await run_sync(write)
