"""The word of a run that was killed does not count for the next one."""

import os
import subprocess
import sys

from redis import Redis

from services.local.health import Addresses, why_not_ready
from services.local.processes import Health, Probe
from services.shared.kit.owner import here, this_process


def test_only_a_living_process_of_this_machine_counts(redis_url: str) -> None:
    client = Redis.from_url(redis_url)
    client.flushall()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    began = float(this_process().rpartition(":")[2])
    stale = f"ragstone:present:worker:{here()}:{ended.pid}:{began:.2f}"
    reused = f"ragstone:present:worker:{here()}:{os.getpid()}:{began - 100:.2f}"
    other = f"ragstone:present:reconciler:{here()}-other:{ended.pid}:{began:.2f}"
    for key in (stale, reused, other):
        client.set(key, "1")
    addresses = Addresses(url="", redis_url=redis_url)
    assert why_not_ready(Health(Probe.PRESENT, "worker"), addresses) == "no worker has said yet that it works"
    assert client.keys("ragstone:present:*") == [other.encode()]
    client.set(f"ragstone:present:worker:{here()}:{os.getpid()}:{began:.2f}", "1")
    assert why_not_ready(Health(Probe.PRESENT, "worker"), addresses) is None
