"""Reading Chroma over its REST interface, on connections that are kept.

The standard library's client, because this call stands in every search: it costs 0.3 ms of processor time where httpx
takes 1.1 ms, and neither httpx nor Chroma's own client (0.8 s to import) has to be loaded before the first answer.
"""

import http.client
import re
from collections import deque
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

KEPT_CONNECTIONS = 16
HEARTBEAT = "/api/v2/heartbeat"
COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
"""Tenant and database are those that Chroma's own client takes when nobody names others."""

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
_STALE = (http.client.RemoteDisconnected, http.client.IncompleteRead, ConnectionResetError, BrokenPipeError)


_HALF_DELETED = re.compile(rb"missing \w+ segment", re.IGNORECASE)


class ChromaGoneError(Exception):
    """The collection is not there, or not any more."""


class ChromaShakyError(Exception):
    """The server failed in a way that may not happen again."""


class ChromaHalfGoneError(ChromaShakyError):
    """The collection is just being deleted: its entry is there, and parts of it are not."""


class ChromaSilentError(Exception):
    """The server cannot be reached, does not answer in time, or refuses the request."""


class ChromaHttp:
    """One server. Threads may share it; each call has a connection to itself."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._prefix = urlsplit(url).path.rstrip("/")
        self._timeout_s = timeout_s
        self._kept: deque[http.client.HTTPConnection] = deque(maxlen=KEPT_CONNECTIONS)

    def heartbeat(self) -> None:
        """Returns when a Chroma server answers; raises the errors of this module."""
        self.call("GET", HEARTBEAT, None)

    def collection(self, name: str) -> Mapping[str, Any]:
        """A collection's id, configuration and metadata by its name; raises the errors of this module."""
        found: Mapping[str, Any] = self.call("GET", f"{COLLECTIONS}/{quote(name, safe='')}", None)
        return found

    def ask(self, collection_id: str, operation: str, body: Mapping[str, Any]) -> Any:
        """``query`` or ``get`` on a collection; arrays may stand in the body. Raises the errors of this module."""
        return self.call("POST", f"{COLLECTIONS}/{collection_id}/{operation}", body)

    def count(self, collection_id: str) -> int:
        """Vectors in a collection; raises the errors of this module."""
        return int(self.call("GET", f"{COLLECTIONS}/{collection_id}/count", None))

    def call(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        """The answer to any request as JSON; raises the errors of this module."""
        content = None if body is None else orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
        connection = self._connection()
        try:
            connection.request(method, self._prefix + path, content, _HEADERS)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            # Connections kept from before a restart of the server are broken, all of them; a new one may do.
            self._kept.clear()
            kind = ChromaShakyError if isinstance(error, _STALE) else ChromaSilentError
            raise kind(f"{type(error).__name__}: {error}") from error
        if response.will_close or len(self._kept) == KEPT_CONNECTIONS:
            connection.close()
        else:
            self._kept.append(connection)
        return _read(response.status, answer)

    def _connection(self) -> http.client.HTTPConnection:
        try:
            return self._kept.pop()
        except IndexError:
            return _connection(self._url, self._timeout_s)


def _connection(url: str, timeout_s: float) -> http.client.HTTPConnection:
    """A connection that is opened by its first request."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https"):
        raise ChromaSilentError("that is no address such as http://127.0.0.1:8001")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(host, port, timeout=timeout_s)


def _read(status: int, answer: bytes) -> Any:
    if status in (HTTPStatus.OK, HTTPStatus.CREATED):
        try:
            return orjson.loads(answer)
        except orjson.JSONDecodeError as error:
            raise ChromaSilentError(f"it answered what is no JSON: {answer[:80]!r}") from error
    why = f"status {status}: {answer[:300].decode(errors='replace')}"
    if status == HTTPStatus.NOT_FOUND:
        raise ChromaGoneError(why)
    # A query that meets a collection's first writes fails with "Nothing found on disk", and one that meets its
    # deletion with "Missing metadata segment", under whatever status.
    if _HALF_DELETED.search(answer):
        raise ChromaHalfGoneError(why)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise ChromaShakyError(why)
    raise ChromaSilentError(why)
