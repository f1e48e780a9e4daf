"""Words that occur nowhere else, and the search for them in everything that a run keeps and shows."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import redis

from tests.e2e.stack import Stack

TEXT, TITLE, TAG, TYPE, SOURCE, METADATA, NAME, HEADING = (
    f"zqcanary{what}41" for what in ("text", "title", "tag", "type", "source", "meta", "name", "heading")
)
ACCENTED = "zqkanaré42"
OLD = "zqcanaryold43"
"""In an earlier version of the document only."""
ALL = (TEXT, TITLE, TAG, TYPE, SOURCE, METADATA, NAME, HEADING, ACCENTED, OLD)


def forms(word: str) -> Iterator[bytes]:
    """How a word may lie in a file or come over a wire: in any case, so everything is compared in small letters."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        yield word.encode(encoding)
    yield json.dumps(word)[1:-1].encode()


def found_in(data: bytes, words: Collection[str] = ALL) -> set[str]:
    """Those of the canaries that stand in it."""
    small = data.lower()
    return {word for word in words if any(form in small for form in forms(word))}


def in_files(folder: Path, words: Collection[str] = ALL) -> dict[str, set[str]]:
    """Files that hold any, by their path."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                found = found_in(path.name.encode() + path.read_bytes(), words)
            except FileNotFoundError:
                continue
            if found:
                seen[str(path.relative_to(folder))] = found
    return seen


def in_redis(stack: Stack) -> dict[str, set[str]]:
    """Keys that hold any, or are named by one."""
    client = redis.Redis(port=int(stack.environment["RAGSTONE_REDIS_PORT"]))
    reading: dict[bytes, Callable[[bytes], object]] = {
        b"string": client.get,
        b"set": client.smembers,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1),
    }
    seen = {}
    for key in client.scan_iter():
        # Not by DUMP, which compresses.
        kind = client.type(key)
        assert isinstance(kind, bytes)
        words = found_in(key) | found_in(_bytes(reading[kind](key)))
        if words:
            seen[key.decode()] = words
    return seen


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, dict):
        return b"\n".join(_bytes(one) for pair in value.items() for one in pair)
    return b"\n".join(map(_bytes, value)) if isinstance(value, list | set | tuple) else b""


def shown(client: httpx.Client, told: Mapping[str, list[str]]) -> dict[str, set[str]]:
    """Answers of the routes that hold any; ``told`` gives values for the parameters in their paths."""
    seen = {}
    for path in paths(client, told):
        for page in pages(client, path):
            words = found_in(page.content + str(page.headers).encode())
            if words:
                seen[path] = words
    return seen


def paths(client: httpx.Client, told: Mapping[str, list[str]]) -> Iterator[str]:
    """Every GET route, for each of the ids that it may be asked for."""
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        if "get" not in methods:
            continue
        if "{" not in path:
            yield path
            continue
        kind = path.split("/")[2]
        for id in told.get(kind, []):
            yield re.sub(r"\{[^}]*\}", id, path)


def pages(client: httpx.Client, path: str) -> Iterator[httpx.Response]:
    """A route's answer, and all further pages of a list."""
    asked = [path]
    if path.endswith("/source"):
        asked += [f"{path}?as=original"]
    if path.endswith("/report"):
        asked = [f"{path}?as=html", f"{path}?as=markdown"]
    for one in asked:
        cursor: str | None = None
        while True:
            more: dict[str, Any] = {"params": {"cursor": cursor}} if cursor else {}
            response = client.get(one, **more)
            yield response
            body = response.json() if response.headers.get("content-type") == "application/json" else None
            cursor = body.get("next_cursor") if isinstance(body, dict) else None
            if not cursor:
                break
