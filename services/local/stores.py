"""The doctor's look into the stores: compared with the catalog where a stack runs, else at the files themselves."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from services.local.processes import CHILD_DEFAULTS
from services.local.settings import LocalSettings
from services.local.stack import settle_restore
from services.local.state import Run
from services.shared.contracts.errors import RagstoneError

Level = Literal["ok", "warn", "fail"]

EXAMINE_S = 600.0
CHROMA_FILE = "chroma.sqlite3"
ASIDE = "chroma-damaged-"


@dataclass(frozen=True)
class StoreFinding:
    """One line about a store."""

    name: str
    level: Level
    detail: str


def compared(settings: LocalSettings, run: Run, *, repair: bool) -> Iterator[StoreFinding]:
    """What differs between the stores of a running stack and the catalog, and with ``repair`` what was put right."""
    command = [sys.executable, "-m", "services.ingestor", "repair" if repair else "examine"]
    environment = {**CHILD_DEFAULTS, **os.environ, **_addresses(settings, run), "RAGSTONE_LOG_LEVEL": "ERROR"}
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=EXAMINE_S, check=False)
    except subprocess.TimeoutExpired:
        yield StoreFinding("stores", "fail", f"were not compared within {EXAMINE_S:.0f} seconds; see `ragstone status`")
        return
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    for line in lines:
        yield _finding(json.loads(line), repair=repair)
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines()
        yield StoreFinding("stores", "fail", f"could not all be compared: {said[-1] if said else 'no reason given'}")
    elif not lines:
        yield StoreFinding("stores", "ok", "agree with the catalog: jobs, vectors, keywords, originals")


def at_rest(settings: LocalSettings, *, repair: bool) -> Iterator[StoreFinding]:
    """The files of a stack that does not run. A damaged vector store is set aside: the catalog makes it anew."""
    yield from _restore_at_rest(settings, repair=repair)
    catalog = settings.state_dir / "catalog.db"
    if settings.database_url is not None or catalog.exists():
        fault = _damage(catalog) if settings.database_url is None else None
        if fault is None:
            yield _shape(settings)
        else:
            detail = f"damaged ({fault}); put back your last backup: ragstone restore FILE --replace"
            yield StoreFinding("catalog", "fail", detail)
    folder = settings.state_dir / "chroma"
    if not (folder / CHROMA_FILE).exists():
        return
    fault = _damage(folder / CHROMA_FILE)
    if fault is None:
        yield StoreFinding("vector store", "ok", "sound")
    elif repair:
        aside = folder.with_name(f"{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}")
        folder.rename(aside)
        detail = f"was damaged ({fault}) and lies in {aside.name} now; once the stack runs its vectors are made again"
        yield StoreFinding("vector store", "warn", detail)
    else:
        detail = f"damaged ({fault}); `ragstone doctor --repair` sets it aside, and the catalog makes it anew"
        yield StoreFinding("vector store", "fail", detail)


def _restore_at_rest(settings: LocalSettings, *, repair: bool) -> Iterator[StoreFinding]:
    """A restore that was killed."""
    from services.shared.catalog.backup import marks

    if repair and (became := settle_restore(settings)) is not None:
        yield StoreFinding("restore", "warn", became)
    elif marks.pending(settings.state_dir):
        detail = "was killed, or is under way; `ragstone doctor --repair` says what became of it and tidies up"
        yield StoreFinding("restore", "warn", detail)


def _shape(settings: LocalSettings) -> StoreFinding:
    """Does this release know the shape of the catalog's tables?"""
    from services.shared.catalog.engine import Catalog

    catalog = Catalog(settings.catalog_url)
    try:
        catalog.refuse_newer()
    except RagstoneError as error:
        return StoreFinding("catalog", "fail", error.detail)
    finally:
        catalog.close()
    return StoreFinding("catalog", "ok", "sound")


def set_aside(settings: LocalSettings) -> Iterator[StoreFinding]:
    """Damaged vector stores that nobody needs any more; they still hold ids and, of early collections, tags."""
    for folder in sorted(settings.state_dir.glob(f"{ASIDE}*")):
        detail = f"{folder.name} was set aside as damaged; delete it once the vectors are made again"
        yield StoreFinding("vector store", "warn", detail)


def _addresses(settings: LocalSettings, run: Run) -> Mapping[str, str]:
    """Where the run's stores are; what was set by hand stays as it was."""
    ports = {part.name: part.port for part in run.parts if part.port}
    found = {"RAGSTONE_STATE_DIR": str(settings.state_dir.absolute()), "RAGSTONE_GATEWAY_URL": run.url}
    if "redis" in ports:
        found["RAGSTONE_REDIS_URL"] = f"redis://127.0.0.1:{ports['redis']}/0"
    for name in ("chroma", "retriever", "generator"):
        if name in ports:
            found[f"RAGSTONE_{name.upper()}_URL"] = f"http://127.0.0.1:{ports[name]}"
    return found


def _finding(difference: Mapping[str, Any], *, repair: bool) -> StoreFinding:
    space = f" of {difference['space']}" if difference["space"] else ""
    name = f"{difference['store']}{space}"
    if difference["repaired"]:
        return StoreFinding(name, "ok", f"{difference['found']}: {difference['repair']}")
    by_itself = repair or difference["store"] in ("originals",) or "by hand" in difference["repair"]
    level: Level = "warn" if by_itself else "fail"
    if by_itself:
        return StoreFinding(name, level, f"{difference['found']}: {difference['repair']}")
    hint = f"the reconciler sees to it in its own time, `ragstone doctor --repair` at once: {difference['repair']}"
    return StoreFinding(name, level, f"{difference['found']}; {hint}")


def _damage(file: Path) -> str | None:
    """What SQLite finds wrong with a file; None when it is sound."""
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True, timeout=5)) as connection:
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return None if said == "ok" else str(said)
