"""Collections as such: which there are, and letting go of one."""

import time

from services.shared.index import chroma
from services.shared.index.chroma_http import (
    COLLECTIONS,
    ChromaGoneError,
    ChromaHttp,
    ChromaShakyError,
    ChromaSilentError,
)

TIMEOUT_S = 120.0
"""Deleting a large collection reads and writes all its rows."""

PAUSES_S = (0.2, 1.0)
PAGE = 1000


def drop(chroma_url: str, name: str) -> bool:
    """Delete a collection; False when there was none.

    Raises RagstoneError (vector_store_unavailable).
    """
    http = ChromaHttp(chroma_url, timeout_s=TIMEOUT_S)
    failure: Exception | None = None
    for pause in (*PAUSES_S, None):
        try:
            http.call("DELETE", f"{COLLECTIONS}/{name}", None)
            return True
        except ChromaGoneError:
            # After a try that failed half-way this is what success looks like.
            return failure is not None
        except ChromaShakyError as error:
            failure = error
        except ChromaSilentError as error:
            raise chroma.unavailable(chroma_url, str(error)) from error
        if pause is not None:
            time.sleep(pause)
    raise chroma.unavailable(chroma_url, str(failure)) from failure


def listed(chroma_url: str) -> list[str]:
    """The names of all collections; raises RagstoneError (vector_store_unavailable)."""
    http = ChromaHttp(chroma_url, timeout_s=TIMEOUT_S)
    names: list[str] = []
    try:
        while True:
            page = http.call("GET", f"{COLLECTIONS}?limit={PAGE}&offset={len(names)}", None)
            names += [str(one["name"]) for one in page]
            if len(page) < PAGE:
                return names
    except (ChromaGoneError, ChromaShakyError, ChromaSilentError) as error:
        raise chroma.unavailable(chroma_url, str(error)) from error
