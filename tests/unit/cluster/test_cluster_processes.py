"""The base in ops/kubernetes starts the processes of the local run, with settings, doors and room that they have."""

import ast
import re
import tomllib
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from fastapi.routing import APIRoute

from benchmarks.memory_formula import FORMULAS, GATEWAY_MB, MB
from services.gateway.app.callers import OPEN
from services.gateway.settings import GatewaySettings
from services.generator.app import create_app as generator_app
from services.generator.settings import GeneratorSettings
from services.ingestor.settings import ParseSettings, WorkSettings
from services.local.processes import PARTS, Part, Probe
from services.retriever.app import create_app as retriever_app
from services.retriever.settings import RetrieverSettings, Settings
from services.shared.contracts.jobs import Queue
from services.shared.kit.settings import JobSettings
from tests.unit import metrics_page
from tests.unit.cluster.manifests import (
    BASE,
    CATALOG,
    KUBERNETES,
    ORIGINALS,
    ROOT,
    WORKLOADS,
    Thing,
    amount,
    as_written,
    container,
    environment,
    literals,
    of_kind,
    pod,
)
from tests.unit.settings_page import settings_classes, variable

THINGS = as_written(BASE)
ALL = of_kind(THINGS, *WORKLOADS)
SERVICES = of_kind(THINGS, "Service")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
OURS = [part for part in PARTS if part.command[:2] == ("{python}", "-m")]
OF_OURS = {name: one for name, one in ALL.items() if container(one)["image"].startswith("ragstone-")}
OF_OTHERS = {name: one for name, one in ALL.items() if name not in OF_OURS}
DOORS = {part.name: part.port.usual for part in OURS if part.port is not None}
WORKER = ["python", "-m", "services.ingestor", "worker"]


def by_name(workload: Thing) -> str:
    name: str = workload["metadata"]["name"]
    return name


every = pytest.mark.parametrize("workload", ALL.values(), ids=by_name)
every_of_ours = pytest.mark.parametrize("workload", OF_OURS.values(), ids=by_name)


@pytest.mark.parametrize("part", OURS, ids=lambda part: part.name)
def test_each_process_of_the_local_run_runs_with_the_same_command(part: Part) -> None:
    assert container(ALL[part.name])["command"] == ["python", *part.command[1:]]


def test_nothing_else_runs_but_workers_of_other_queues() -> None:
    extra = set(ALL) - {part.name for part in PARTS}
    assert all(container(ALL[name])["command"] == WORKER for name in extra)


def test_every_queue_has_one_kind_of_worker() -> None:
    workers = [one for one in OF_OURS.values() if container(one)["command"] == WORKER]
    served = [name for one in workers for name in environment(one)["RAGSTONE_QUEUES"].split(",")]
    assert sorted(served) == sorted(queue.value for queue in Queue if queue is not Queue.ASK)
    assert container(ALL["asker"])["command"][-1] == "asker"


@every_of_ours
def test_our_images_are_those_of_compose_at_this_version(workload: Thing) -> None:
    one = container(workload)
    image, _, tag = one["image"].partition(":")
    assert tag == VERSION
    assert image == f"ragstone-{one['command'][2].removeprefix('services.')}"
    assert image in {service["image"].partition(":")[0] for service in COMPOSE.values()}


def test_images_of_others_are_pinned_as_in_compose() -> None:
    pinned = {name: container(one)["image"] for name, one in OF_OTHERS.items()}
    assert pinned == {name: COMPOSE[name]["image"] for name in ("redis", "chroma")}


@every_of_ours
def test_our_processes_run_as_the_user_of_the_image(workload: Thing) -> None:
    user = pod(workload)["spec"]["securityContext"]["runAsUser"]
    assert re.search(rf"\b{user}\b", (ROOT / "services" / "Dockerfile").read_text())


def test_addresses_name_services_that_listen_there() -> None:
    for name, value in literals(BASE).items():
        if (found := re.fullmatch(r"(?:http|redis)://([a-z]+):(\d+)(?:/0)?", value)) is not None:
            (port,) = SERVICES[found[1]]["spec"]["ports"]
            ports = {one["name"]: one["containerPort"] for one in container(ALL[found[1]])["ports"]}
            assert (port["port"], ports[port["targetPort"]]) == (int(found[2]), int(found[2])), name
    assert set(SERVICES) == {*DOORS, "redis", "chroma"}


@pytest.mark.parametrize("name", DOORS)
def test_doors_are_where_the_settings_have_them(name: str) -> None:
    assert [port["containerPort"] for port in container(ALL[name])["ports"]] == [DOORS[name]]
    assert literals(BASE)["RAGSTONE_HOST"] == "0.0.0.0"


def routes(name: str) -> set[str]:
    """The paths that a service answers to without a key."""
    apps: dict[str, FastAPI] = {"retriever": retriever_app(Settings()), "generator": generator_app()}
    if name == "gateway":
        return set(OPEN)
    return {route.path for route in apps[name].routes if isinstance(route, APIRoute)}


@pytest.mark.parametrize("name", DOORS)
def test_probes_ask_routes_that_there_are(name: str) -> None:
    one = container(ALL[name])
    asked = {kind: one[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")}
    assert {probe["path"] for probe in asked.values()} <= routes(name) & {"/healthz", "/readyz"}
    assert {probe["port"] for probe in asked.values()} == {one["ports"][0]["name"]}
    # A part that is away is no reason to begin another one anew, nor to send nobody to those that do without it.
    assert asked["liveness"]["path"] == asked["readiness"]["path"] == "/healthz"


def test_a_retriever_has_time_to_load_its_model() -> None:
    probe = container(ALL["retriever"])["startupProbe"]
    assert probe["httpGet"]["path"] == "/readyz"
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 300


def test_processes_without_a_port_have_no_probe_that_could_only_guess() -> None:
    """They say in Redis that they are there; the gateway's /readyz and metrics tell who does not."""
    for part in OURS:
        if part.health.probe is Probe.PRESENT:
            assert not {"ports", "livenessProbe", "readinessProbe", "startupProbe"} & set(container(ALL[part.name]))


def test_the_stores_are_asked_as_in_the_local_run() -> None:
    chroma = next(part for part in PARTS if part.name == "chroma")
    for kind in ("startup", "readiness", "liveness"):
        assert container(ALL["chroma"])[f"{kind}Probe"]["httpGet"]["path"] == chroma.health.target
    for kind in ("readiness", "liveness"):
        assert container(ALL["redis"])[f"{kind}Probe"]["exec"]["command"] == ["redis-cli", "ping"]


@pytest.mark.parametrize("workload", OF_OTHERS.values(), ids=by_name)
def test_the_stores_are_one_each_and_keep_what_they_have(workload: Thing) -> None:
    assert (workload["kind"], workload["spec"]["replicas"]) == ("StatefulSet", 1)
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    assert {"name": claim["metadata"]["name"], "mountPath": "/data"} in container(workload)["volumeMounts"]
    args = container(workload)["args"]
    assert args[args.index("--path" if by_name(workload) == "chroma" else "--dir") + 1] == "/data"


def settings_names() -> set[str]:
    return {variable(name, field) for table in settings_classes() for name, field in table.model_fields.items()}


def test_every_setting_exists() -> None:
    folders = [file.parent for file in KUBERNETES.rglob("kustomization.yaml")]
    named = {name for folder in folders for name in literals(folder)}
    named |= {name for one in OF_OURS.values() for name in environment(one)}
    assert len(folders) == 3
    assert {name for name in named if name.startswith("RAGSTONE_")} <= settings_names()
    assert {name for name in named if not name.startswith("RAGSTONE_")} <= {"AWS_DEFAULT_REGION", "MPLCONFIGDIR"}


def test_every_value_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (BASE, KUBERNETES / "overlays" / "scaled"):
        for name, value in literals(folder).items():
            monkeypatch.setenv(name, value)
    for workload in OF_OURS.values():
        with monkeypatch.context() as own:
            for name, value in environment(workload).items():
                own.setenv(name, value)
            for table in settings_classes():
                table()


@every
def test_a_variable_named_after_a_service_is_not_made(workload: Thing) -> None:
    """RETRIEVER_PORT and CHROMA_PORT would be tcp://10.…"""
    assert pod(workload)["spec"]["enableServiceLinks"] is False


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
    return said["gateway"] * 2 if name == "asker" else said[name]


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


def test_prometheus_finds_what_tells_something() -> None:
    marked = {
        name: pod(one)["metadata"]["annotations"] for name, one in ALL.items() if "annotations" in pod(one)["metadata"]
    }
    wanted = {"prometheus.io/scrape": "true", "prometheus.io/path": "/metrics"}
    assert marked == {name: wanted | {"prometheus.io/port": str(DOORS[name])} for name in metrics_page.services()}


def test_marks_of_what_opens_a_store_stand_on_workload_and_pod() -> None:
    for mark in (CATALOG, ORIGINALS):
        marked = {name for name, one in ALL.items() if one["metadata"]["labels"].get(mark) == "true"}
        assert marked == {name for name, one in ALL.items() if pod(one)["metadata"]["labels"].get(mark) == "true"}
        rooms = {container(ALL[name])["command"][2].removeprefix("services.") for name in marked}
        assert rooms == {"gateway", "ingestor", *(["retriever"] if mark == CATALOG else [])}
        assert marked == {
            name for name, one in OF_OURS.items() if container(one)["command"][2].partition(".")[2] in rooms
        }


def test_doors_are_the_defaults_of_the_settings() -> None:
    found = (GatewaySettings().port, RetrieverSettings().retriever_port, GeneratorSettings().generator_port)
    assert found == (DOORS["gateway"], DOORS["retriever"], DOORS["generator"])
