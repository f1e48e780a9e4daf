"""What the tests run in processes of their own; kept importable, so that a spawned process finds it."""

import time
from multiprocessing.synchronize import Barrier

from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from tests.contract.catalog.building import SPACE, draft, publish, save, submit


def migrate(url: str, gate: Barrier) -> None:
    catalog = Catalog(url)
    gate.wait(timeout=60)
    catalog.migrate()
    catalog.check()
    catalog.close()


def publish_many(url: str, gate: Barrier, name: str, number: int) -> None:
    """Publishes documents one by one, each transaction staying open a while after its change."""
    catalog = Catalog(url)
    gate.wait(timeout=60)
    for n in range(number):
        sent = draft(f"{name}-{n}")
        with catalog.write() as tx:
            revision = submit(tx, sent)
            save(tx, sent)
        with catalog.write() as tx:
            publish(tx, sent, revision)
            time.sleep(0.001 * (n % 4))
    catalog.close()


def speak_for_itself(catalog: Catalog, of_the_parent: object) -> None:
    """Uses a catalog that the parent opened before it forked."""
    with catalog.read() as tx:
        assert tx.connection.dbapi_connection is not of_the_parent
        assert chunks.counts(tx, SPACE) == (1, 2)
    catalog.close()
