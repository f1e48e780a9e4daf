"""Taking versions out of collections, whatever index they belong to, without Chroma's own client."""

import time
from collections.abc import Sequence

from services.shared.contracts.ids import VersionId
from services.shared.index.chroma import unavailable
from services.shared.index.chroma_http import (
    ChromaGoneError,
    ChromaHalfGoneError,
    ChromaHttp,
    ChromaShakyError,
    ChromaSilentError,
)

BATCH = 500
"""Versions in one request."""

IDS_AT_ONCE = 5000
"""Chroma takes 5,461 at most."""

PAUSES_S = (0.1, 0.3)
"""Waits before it is tried again after the server failed in it."""


class VectorEraser:
    """One Chroma server. Threads may share it. Raises VECTOR_STORE_UNAVAILABLE when it does not answer in time."""

    def __init__(self, chroma_url: str, *, timeout_s: float) -> None:
        self._url = chroma_url
        self._http = ChromaHttp(chroma_url, timeout_s=timeout_s)

    def forget(self, collection: str, versions: Sequence[VersionId]) -> int:
        """Delete all vectors of these versions; how many there were. A collection that is not there held none."""
        failure: Exception | None = None
        for pause in (*PAUSES_S, None):
            try:
                return self._forgotten(collection, versions)
            except (ChromaGoneError, ChromaHalfGoneError):
                return 0
            except ChromaSilentError as error:
                raise unavailable(self._url, str(error)) from error
            except ChromaShakyError as error:
                failure = error
            if pause is not None:
                time.sleep(pause)
        raise unavailable(self._url, str(failure)) from failure

    def _forgotten(self, collection: str, versions: Sequence[VersionId]) -> int:
        collection_id = str(self._http.collection(collection)["id"])
        found = 0
        for begin in range(0, len(versions), BATCH):
            of_versions = {"version_id": {"$in": list(versions[begin : begin + BATCH])}}
            ids = self._http.ask(collection_id, "get", {"where": of_versions, "include": []})["ids"]
            for start in range(0, len(ids), IDS_AT_ONCE):
                self._http.ask(collection_id, "delete", {"ids": ids[start : start + IDS_AT_ONCE]})
            found += len(ids)
        return found
