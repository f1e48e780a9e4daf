"""What goes wrong in the catalog ends in a log, and what was to be stored must not."""

import traceback
from datetime import UTC, datetime

import pytest

from services.shared.catalog import jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import JobKind, Queue

CANARY = "zqcatalogcanary"


def test_an_error_tells_nothing_of_what_was_to_be_stored(catalog: Catalog) -> None:
    def make() -> None:
        with catalog.write() as tx:
            jobs.create(
                tx,
                id=JobId("the-same"),
                space=SpaceId("main"),
                kind=JobKind.ASK,
                queue=Queue.ASK,
                document_id=None,
                revision=None,
                payload={"asked": CANARY},
                request_id="",
                now=datetime.now(UTC),
            )

    make()
    with pytest.raises(RagstoneError) as caught:
        make()
    told = "".join(traceback.format_exception(caught.value))
    assert "INSERT INTO jobs" in told
    assert CANARY not in told
