"""The key that the command line sends: the one of RAGSTONE_KEY, or one of its own for the gateway that runs here."""

import http.client
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Lock
from typing import Protocol
from urllib.parse import urlsplit

from services.local.settings import LocalSettings
from services.shared.contracts import key_secrets
from services.shared.contracts.keys import CreatedKey, Role
from services.shared.kit.settings import WrongSetting

LIVES = timedelta(hours=1)
RENEW_S = 1800.0
"""Half of its life: what goes on for longer goes on with a new key."""
ASK_AGAIN_S = 5.0
PROBE_S = 3.0
_UNAUTHORIZED = 401


class Credential(Protocol):
    """Where the key of each request comes from."""

    def secret(self) -> str | None:
        """The key to send now, null for none. Raises RagstoneError when the catalog is away."""
        ...

    def close(self) -> None:
        """It is not needed any more."""
        ...


class GivenKey:
    """The key that somebody gave this command."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def secret(self) -> str | None:
        """Always the same."""
        return self._secret

    def close(self) -> None:
        """It is somebody else's."""


class OwnKey:
    """An admin key in the catalog of this state folder, made as soon as the gateway asks for one, removed at the end.

    Whoever can write the catalog may do everything anyway.
    """

    def __init__(self, url: str, catalog_url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._catalog_url = catalog_url
        self._clock = clock
        self._made: CreatedKey | None = None
        self._again_at = clock()
        self._lock = Lock()

    def secret(self) -> str | None:
        """One that lives for a while yet; null while the gateway asks for none."""
        with self._lock:
            if self._clock() < self._again_at:
                return None if self._made is None else self._made.secret
            if self._made is None and not asks_for_a_key(self._url):
                self._again_at = self._clock() + ASK_AGAIN_S
                return None
            # An earlier one runs out by itself: a request that holds it may be under way.
            self._made = self._new()
            self._again_at = self._clock() + RENEW_S
            return self._made.secret

    def close(self) -> None:
        """Remove it."""
        from services.shared.catalog import own_keys
        from services.shared.catalog.engine import Catalog

        if self._made is not None:
            catalog = Catalog(self._catalog_url)
            own_keys.remove(catalog, self._made)
            catalog.close()
            self._made = None

    def _new(self) -> CreatedKey:
        from services.shared.catalog import own_keys
        from services.shared.catalog.engine import Catalog

        catalog = Catalog(self._catalog_url)
        try:
            catalog.refuse_newer()
            return own_keys.make(catalog, "the ragstone command", Role.ADMIN, None, LIVES)
        finally:
            catalog.close()


def credential_for(url: str, own_url: str | None, settings: LocalSettings) -> Credential | None:
    """For the gateway at ``url``; ``own_url`` is that of the run on this state folder.

    Raises: WrongSetting when RAGSTONE_KEY is none; it is not shown, since it may be another secret.
    """
    given = settings.key.get_secret_value().strip() if settings.key is not None else ""
    if given:
        if not key_secrets.read(given).id:
            raise WrongSetting("RAGSTONE_KEY is no key of Ragstone; one looks like rs_0123456789ab_….")
        return GivenKey(given)
    return OwnKey(url, settings.catalog_url) if url == own_url else None


def asks_for_a_key(url: str) -> bool:
    """Does this gateway refuse whoever sends none? One that does not answer is not said to."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=PROBE_S)
    try:
        connection.request("GET", "/v1/me")
        return connection.getresponse().status == _UNAUTHORIZED
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
