"""The base in ops/kubernetes gives each process the memory that was measured, and the time that it needs to end."""

import ast
import re
from typing import Any

import pytest
import yaml

from benchmarks.memory_formula import FORMULAS, GATEWAY_MB, MB
from services.gateway.settings import GatewaySettings
from services.ingestor.settings import ParseSettings, WorkSettings
from services.shared.kit.settings import JobSettings
from tests.unit.cluster.manifests import BASE, ROOT, WORKLOADS, Thing, amount, as_written, container, of_kind, pod

ALL = of_kind(as_written(BASE), *WORKLOADS)
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
WORKER = ["python", "-m", "services.ingestor", "worker"]
DOORS = ("gateway", "retriever", "generator")


def by_name(workload: Thing) -> str:
    name: str = workload["metadata"]["name"]
    return name


every = pytest.mark.parametrize("workload", ALL.values(), ids=by_name)


def resident_mb() -> dict[str, int]:
    """What the runbook says of each process."""
    said = re.search(r"Resident MB of one process[^:]*: ([^.]+)\.", (ROOT / "docs" / "runbook.md").read_text())
    assert said is not None
    found = re.findall(r"([A-Za-z' ]+?) (\d+)(?: \((torch)\) or \d+ \(onnx\))?(?:,|$)", said[1])
    return {name.strip().removeprefix("and ").lower(): int(mb) for name, mb, _ in found}


def needed_mb(name: str) -> int:
    """What one replica is measured to take, with the embedder that takes more; a worker with what reads its files."""
    said = resident_mb()
    if container(ALL[name]).get("command") == WORKER:
        return said["worker's parent"] + said["worker process"] + said["the process that reads its files"]
    # The asker is a gateway without a door, and its children are as large.
    return said["gateway"] * (1 + GatewaySettings().asker_concurrency) if name == "asker" else said[name]


@every
def test_room_is_asked_for_as_it_was_measured(workload: Thing) -> None:
    given = container(workload)["resources"]
    asked, most = (amount(given[kind]["memory"]) for kind in ("requests", "limits"))
    need = needed_mb(by_name(workload)) * MB
    assert need <= asked <= most
    assert 0 < amount(given["requests"]["cpu"]) <= amount(given["limits"]["cpu"])
    if container(workload).get("command") == WORKER:
        assert most >= need + ParseSettings().parse_memory_bytes * WorkSettings().worker_concurrency


def test_all_together_ask_for_what_the_formula_says() -> None:
    workers = sum(container(one).get("command") == WORKER for one in ALL.values())
    asked = sum(amount(container(one)["resources"]["requests"]["memory"]) for one in ALL.values())
    assert asked >= max(formula.expected(workers, 1) for formula in FORMULAS.values()) * MB
    assert amount(container(ALL["gateway"])["resources"]["limits"]["memory"]) >= GATEWAY_MB * MB


def test_redis_forgets_before_it_is_killed() -> None:
    one = container(ALL["redis"])
    most = one["args"][one["args"].index("--maxmemory") + 1]
    # A rewrite of its log may double what it has.
    assert int(most.removesuffix("mb")) * 2**20 * 2 <= amount(one["resources"]["limits"]["memory"])


def seconds(written: str) -> int:
    return int(written.removesuffix("s"))


@pytest.mark.parametrize("name", ["worker", "worker-index"])
def test_a_worker_has_time_to_end_what_it_began(name: str) -> None:
    """Warm shutdown: the documents that it took together, and the slice of a long job."""
    work, reading = WorkSettings(), ParseSettings()
    longest = work.group_jobs * reading.parse_first_s + reading.parse_timeout_s + work.time_slice_s
    grace = pod(ALL[name])["spec"]["terminationGracePeriodSeconds"]
    assert longest <= grace < JobSettings().job_time_limit_s


def test_the_asker_has_the_time_that_compose_gives_it() -> None:
    grace = pod(ALL["asker"])["spec"]["terminationGracePeriodSeconds"]
    assert grace >= seconds(COMPOSE["asker"]["stop_grace_period"])


def graceful(name: str) -> int:
    """How long the service's server waits for its connections when it is told to stop."""
    tree = ast.parse((ROOT / "services" / name / "__main__.py").read_text())
    words = (word for call in ast.walk(tree) if isinstance(call, ast.Call) for word in call.keywords)
    (found,) = (word.value for word in words if word.arg == "timeout_graceful_shutdown")
    return int(ast.literal_eval(found))


@pytest.mark.parametrize("name", DOORS)
def test_answers_under_way_may_end_before_the_server_does(name: str) -> None:
    before = int(container(ALL[name])["lifecycle"]["preStop"]["exec"]["command"][1])
    assert before >= 10
    assert before + graceful(name) < pod(ALL[name])["spec"]["terminationGracePeriodSeconds"]
