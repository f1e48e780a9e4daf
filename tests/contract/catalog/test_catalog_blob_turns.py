"""Who names original bytes in the catalog and who deletes those that nothing needs take turns, on every machine."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from services.shared.catalog.blob_use import discard
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from tests.contract.catalog.building import draft, ingest, save, submit

CONTENT = "one"
A_WHILE_S = 0.5


class SlowBlobs(Blobs):
    """Deletes when it is told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def delete(self, sha256: str) -> None:
        self.asked.set()
        assert self.go_on.wait(20)
        super().delete(sha256)


def waits(running: Future[Any]) -> bool:
    try:
        running.result(A_WHILE_S)
    except TimeoutError:
        return True
    return False


def test_a_deletion_waits_for_who_is_about_to_name_the_bytes(catalog: Catalog, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    sha256, _ = blobs.put(CONTENT.encode())
    with ThreadPoolExecutor(1) as pool:
        with catalog.write() as tx:
            submit(tx, draft(content=CONTENT))
            save(tx, draft(content=CONTENT))
            deleting = pool.submit(discard, catalog, blobs, [sha256])
            assert waits(deleting)
        assert deleting.result(20) == 0
    assert blobs.holds(sha256)


def test_who_names_the_bytes_waits_for_a_deletion_and_can_tell_that_they_are_gone(
    catalog: Catalog, tmp_path: Path
) -> None:
    blobs = SlowBlobs(tmp_path / "blobs")
    sha256, _ = blobs.put(CONTENT.encode())

    def send() -> None:
        with catalog.write() as tx:
            ingest(tx, content=CONTENT)

    with ThreadPoolExecutor(2) as pool:
        deleting = pool.submit(discard, catalog, blobs, [sha256])
        assert blobs.asked.wait(20)
        naming = pool.submit(send)
        assert waits(naming)
        assert blobs.holds(sha256)
        blobs.go_on.set()
        assert deleting.result(20) == 1
        naming.result(20)
    assert not blobs.holds(sha256), "so the sender puts them again, as the gateway and a worker do"
