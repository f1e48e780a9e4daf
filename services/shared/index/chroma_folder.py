"""The folder of a Chroma server on this disk: what deleted collections left in it is taken out.

Chroma 1.5 deletes the records of a collection and leaves the folder of its vectors where it is (chroma-core/chroma
issue 5259); neither a restart nor ``chroma vacuum`` takes it away. Such a folder is named after a segment, and
the segments that there are stand in the server's SQLite file.
"""

import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from services.shared.kit.logs import get_logger

RECORDS = "chroma.sqlite3"
WAIT_S = 5.0

_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

log = get_logger(__name__)


def sweep(folder: Path) -> int:
    """Delete the folders of segments that are no more; how many bytes that gave back.

    Safe beside a running server: a segment is recorded before it has a folder. Does nothing where there is no such
    folder or its records cannot be read.
    """
    records = folder / RECORDS
    if not records.is_file():
        return 0
    # In this order: a folder that is made between the two looks is not among these.
    found = [path for path in folder.iterdir() if _SEGMENT.fullmatch(path.name) and path.is_dir()]
    try:
        known = _segments(records)
    except sqlite3.Error as error:
        log.warning("vector_folder_not_swept", why=str(error))
        return 0
    freed = 0
    for path in found:
        if path.name in known:
            continue
        freed += _emptied(path)
        shutil.rmtree(path, ignore_errors=True)
    if freed:
        log.info("vector_folder_swept", bytes=freed)
    return freed


def _emptied(path: Path) -> int:
    """Cut the files to nothing: the server keeps them open, and the disk would give their room back when it ends."""
    freed = 0
    for file in path.rglob("*"):
        if file.is_file():
            size = file.stat().st_size
            with suppress(OSError):
                os.truncate(file, 0)
                freed += size
    return freed


def _segments(records: Path) -> set[str]:
    uri = f"{records.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=WAIT_S)) as connection:
        return {str(row[0]) for row in connection.execute("SELECT id FROM segments")}
