"""A retriever that is busy with visitors is asked again; whatever else it says is said at once."""

import asyncio
from typing import Any

import pytest

from services.ingestor.adapters.patient_retriever import TRIES, PatientRetriever
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import RetrieveRequest

ASKED = RetrieveRequest(space=SpaceId("main"), question="Who keeps the tide table?")


class Scripted:
    """Fails so many times with this code, and then answers."""

    def __init__(self, failures: int, code: ErrorCode) -> None:
        self.left, self.code, self.calls = failures, code, 0

    async def post(self, path: str, request: RetrieveRequest, kind: type[Any]) -> str:
        assert (path, request) == ("/retrieve", ASKED)
        self.calls += 1
        if self.left:
            self.left -= 1
            raise RagstoneError(self.code, "not now")
        return "found"


def _ask(client: Scripted) -> object:
    with asyncio.Runner() as runner:
        return PatientRetriever(client, runner, 0.0).retrieve(ASKED)  # type: ignore[arg-type]


def test_a_busy_one_is_asked_again() -> None:
    client = Scripted(TRIES - 1, ErrorCode.BUSY)
    assert _ask(client) == "found"
    assert client.calls == TRIES


@pytest.mark.parametrize(
    ("failures", "code", "calls"), [(TRIES, ErrorCode.BUSY, TRIES), (1, ErrorCode.RETRIEVER_UNAVAILABLE, 1)]
)
def test_one_that_stays_busy_or_is_away_is_told_of(failures: int, code: ErrorCode, calls: int) -> None:
    client = Scripted(failures, code)
    with pytest.raises(RagstoneError) as caught:
        _ask(client)
    assert (caught.value.code, client.calls) == (code, calls)
