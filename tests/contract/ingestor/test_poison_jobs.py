"""Files that kill or hang their reader, sent to a real worker with ordinary ones behind them."""

from pathlib import Path

import psutil
import pytest

from services.shared.contracts.jobs import JobState
from tests.contract.ingestor.poisoned_reading import gone, until
from tests.contract.ingestor.site import Site

pytestmark = pytest.mark.slow

CASES = Path(__file__).parents[4] / "shared" / "cases" / "files"
WORKER = "tests.contract.ingestor.poisoned_worker"
ORDINARY = "# Pumps\n\nThe pump in hall seven is oiled on Mondays."


def test_poison_fails_alone_and_ends_for_good(site: Site) -> None:
    """One kills its reader, one never returns, one eats memory, others are public cases; five ordinary ones behind."""
    limits = {"RAGSTONE_PARSE_TIMEOUT_S": "3", "RAGSTONE_PARSE_MEMORY_BYTES": "200000000"}
    with site.process("reconciler"), site.process("worker", module=WORKER, **limits) as worker:
        warm = site.send("warm", ORDINARY + " Warm.", ring=True)
        site.wait([warm], 240)
        of_worker = {one.pid for one in psutil.Process(worker.pid).children()}
        poison = [
            site.send("kills", "KILL", filename="kills.txt", ring=True),
            site.send("hangs", "HANG", filename="hangs.txt", ring=True),
            site.send("eats", "EAT", filename="eats.txt", ring=True),
        ]
        for case in (CASES / "q50_page_tree_loop.pdf", CASES / "h43_inflates_300mb.docx"):
            if case.exists():
                poison.append(site.send(case.stem, case.read_bytes(), filename=case.name, ring=True))
        ordinary = [site.send(f"good{n}", f"{ORDINARY} {n}", ring=True) for n in range(5)]
        assert {job.state for job in site.wait(ordinary, 120)} == {JobState.SUCCEEDED}
        failed = site.wait(poison, 120)
        assert {job.state for job in failed} == {JobState.FAILED}
        assert {job.attempts for job in failed} == {1}, "a file's own failure is not tried again"
        reasons = [job.reason or "" for job in failed]
        assert "kills.txt cannot be read: the program that reads it broke off on this file (SIGKILL)" in reasons[0]
        assert "hangs.txt cannot be read: reading it took longer than 3 seconds" in reasons[1]
        assert "eats.txt cannot be read: reading it takes more than" in reasons[2]
        assert {one.pid for one in psutil.Process(worker.pid).children()} == of_worker, "no worker process died"
        everything = psutil.Process(worker.pid).children(recursive=True)
        readers = [one.pid for one in everything if "poisoned_reader" in " ".join(one.cmdline())]
        assert len(readers) == 1
        site.until(lambda: site.redis.llen("ragstone:ingest") == 0, 10)
    assert site.redis.hlen("unacked") == 0
    log = site.logs()
    assert log.count("parser_died") == 2, "tried once more, as SIGKILL may have been meant for another"
    assert log.count("parser_too_slow") == 2, "a short time first, and the whole time behind the others"
    until(lambda: all(gone(pid) for pid in readers))
