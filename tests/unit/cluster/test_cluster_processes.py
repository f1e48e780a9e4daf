"""The base in ops/kubernetes starts the processes of the local run, with settings and doors that they have."""

import re
import tomllib
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from fastapi.routing import APIRoute

from services.gateway.app.callers import OPEN
from services.gateway.settings import GatewaySettings
from services.generator.app import create_app as generator_app
from services.generator.settings import GeneratorSettings
from services.local.processes import PARTS, Part, Probe
from services.retriever.app import create_app as retriever_app
from services.retriever.settings import RetrieverSettings, Settings
from services.shared.contracts.jobs import Queue
from tests.unit import metrics_page
from tests.unit.cluster.manifests import (
    BASE,
    CATALOG,
    KUBERNETES,
    ORIGINALS,
    ROOT,
    WORKLOADS,
    Thing,
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
MIGRATION_S = 900
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


@pytest.mark.parametrize("name", ["gateway", "retriever"])
def test_a_start_has_time_for_a_migration(name: str) -> None:
    """Whoever was killed in the middle of one would begin it again, for ever; a large catalog takes minutes."""
    probe = container(ALL[name])["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] > MIGRATION_S


def test_a_retriever_is_asked_when_its_model_is_loaded() -> None:
    assert container(ALL["retriever"])["startupProbe"]["httpGet"]["path"] == "/readyz"


def test_calls_are_shared_out_over_replicas() -> None:
    """Connections between services are kept: behind one address a new replica would hear of nothing."""
    assert {name for name, one in SERVICES.items() if one["spec"].get("clusterIP") == "None"} == {
        "retriever",
        "generator",
    }


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
    assert {name for name in named if not name.startswith("RAGSTONE_")} <= {"AWS_DEFAULT_REGION"}


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
