"""Files that hang their reader hold up what waits behind them only for a moment; a slow but good one goes in."""

import time

import pytest

from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobState
from tests.contract.ingestor.site import Site

pytestmark = pytest.mark.slow

WORKER = "tests.contract.ingestor.poisoned_worker"
ORDINARY = "# Pumps\n\nThe pump in hall seven is oiled on Mondays."


def running(site: Site, sent: list[JobId]) -> list[JobId]:
    return [job for job in sent if site.job(job).state is JobState.RUNNING]


def test_an_ordinary_document_behind_files_that_hang_is_live_within_seconds(site: Site) -> None:
    """Two that hang, one that takes six seconds, an ordinary one behind, and one sent while they are read again."""
    limits = {"RAGSTONE_PARSE_TIMEOUT_S": "10", "RAGSTONE_PARSE_FIRST_S": "2"}
    with site.process("reconciler"), site.process("worker", module=WORKER, **limits):
        site.wait([site.send("warm", ORDINARY + " Warm.", ring=True)], 240)
        deeds = ("HANG", "SPIN", "WAIT 6 seconds\n\nThe slow hall has a pump.")
        slow = [site.send(f"slow{n}", deed, filename=f"slow{n}.txt", ring=True) for n, deed in enumerate(deeds)]
        began = time.monotonic()
        good = site.send("good", ORDINARY, ring=True)
        assert site.wait([good], 60)[0].state == JobState.SUCCEEDED
        behind_three = time.monotonic() - began
        site.until(lambda: bool(running(site, slow)), 30)
        hanging = running(site, slow)
        began = time.monotonic()
        meanwhile = site.send("meanwhile", ORDINARY + " Meanwhile.", ring=True)
        assert site.wait([meanwhile], 60)[0].state == JobState.SUCCEEDED
        beside_one = time.monotonic() - began
        assert running(site, slow) == hanging, "it is read all the while"
        done = site.wait(slow, 120)
    assert behind_three < 20, "not the whole time of three"
    assert beside_one < 8, "not the whole time of one"
    assert [job.state for job in done] == [JobState.FAILED] * 2 + [JobState.SUCCEEDED], done[2].reason
    assert {job.attempts for job in done} == {1}, "a first, short reading is no attempt"
    assert all("reading it took longer than 10 seconds" in (job.reason or "") for job in done[:2])
    assert site.chunk_ids("slow2")
