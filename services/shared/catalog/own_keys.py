"""Keys of Ragstone's own processes, which ask the gateway as a client does: made, used, removed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.keys import CreatedKey, Role


def make(catalog: Catalog, name: str, role: Role, space: SpaceId | None, lives: timedelta) -> CreatedKey:
    """A key that runs out by itself, should nobody remove it."""
    with catalog.write() as tx:
        return keys.create_internal(tx, name=name, role=role, space=space, now=datetime.now(UTC), lives=lives)


def remove(catalog: Catalog, made: CreatedKey) -> None:
    """It opens no longer; a catalog that is away does not matter, since the key runs out."""
    with suppress(RagstoneError), catalog.write() as tx:
        keys.remove_internal(tx, made.key.id)


@contextmanager
def own_key(catalog: Catalog, name: str, role: Role, space: SpaceId | None, lives: timedelta) -> Iterator[str]:
    """The secret of a key for the time of a ``with`` block."""
    made = make(catalog, name, role, space, lives)
    try:
        yield made.secret
    finally:
        remove(catalog, made)
