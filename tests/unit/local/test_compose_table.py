"""docker-compose.yml starts the same processes as the local run, in the same way."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.local.processes import CHILD_DEFAULTS, PARTS, Part, Probe
from services.shared.kit.settings import JobSettings

ROOT = Path(__file__).parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
DOCKERFILE = (ROOT / "services" / "Dockerfile").read_text()
OURS = [part for part in PARTS if part.command[:2] == ("{python}", "-m")]
SERVICES = ("RETRIEVER", "GENERATOR", "GATEWAY")
ADDRESSES = {"RAGSTONE_REDIS_URL", "RAGSTONE_CHROMA_URL", *(f"RAGSTONE_{name}_URL" for name in SERVICES)}
SPLIT = {"worker": {"worker", "worker-index"}}
"""What one process of the local run does, and which containers share it."""

CONTAINERS = [(part, name) for part in OURS for name in sorted(SPLIT.get(part.name, {part.name}))]
each_container = pytest.mark.parametrize(("part", "name"), CONTAINERS, ids=[name for _, name in CONTAINERS])


def test_compose_has_every_part_and_only_optional_ones_besides() -> None:
    always = {name for name, service in COMPOSE.items() if "profiles" not in service}
    assert always == {name for part in PARTS for name in SPLIT.get(part.name, {part.name})}


def test_the_containers_of_a_split_part_share_its_queues_out_whole_and_once() -> None:
    shared = [COMPOSE[name]["environment"]["RAGSTONE_QUEUES"] for name in sorted(SPLIT["worker"])]
    assert sorted(shared) == sorted(queue.value for queue in JobSettings(_env_file=None).queues)


@each_container
def test_our_processes_run_the_same_command(part: Part, name: str) -> None:
    assert COMPOSE[name]["command"] == ["python", *part.command[1:]]


@each_container
def test_our_processes_get_the_same_addresses(part: Part, name: str) -> None:
    environment = COMPOSE[name]["environment"]
    assert set(environment) >= ADDRESSES | {"RAGSTONE_STATE_DIR", "RAGSTONE_HOST"}
    assert environment["RAGSTONE_REDIS_URL"].startswith("redis://redis:")


@each_container
def test_our_processes_wait_for_at_least_the_same_parts(part: Part, name: str) -> None:
    assert set(COMPOSE[name].get("depends_on", {})) >= set(part.waits_for)


@each_container
def test_they_are_asked_for_their_health_in_the_same_way(part: Part, name: str) -> None:
    """By compose, or else by the image."""
    own = COMPOSE[name].get("healthcheck")
    image = COMPOSE[name]["image"].split(":")[0].removeprefix("ragstone-")
    room = DOCKERFILE.split(f"AS room-{image}\n", 1)[1].split("\nFROM ", 1)[0]
    asked = own["test"][1:] if own else re.findall(r'"([^"]*)"', room.split("HEALTHCHECK", 1)[1])
    *command, what = asked
    assert command == ["python", "-m", "services.shared.kit.healthcheck"]
    port = part.port.usual if part.port else 0
    assert what == (
        f"http://127.0.0.1:{port}{part.health.target}" if part.health.probe is Probe.HTTP else part.health.target
    )


def test_the_images_carry_the_same_environment_as_local_children() -> None:
    for name, value in CHILD_DEFAULTS.items():
        assert f"{name}={value}" in DOCKERFILE


def test_only_the_gateway_is_published_and_on_loopback() -> None:
    published = {name: service["ports"] for name, service in COMPOSE.items() if "ports" in service}
    assert published.pop("gateway") == ["${RAGSTONE_PUBLISH:-127.0.0.1:8000}:8000"]
    # People look at Grafana, where its profile is turned on.
    assert published == {"grafana": ["${GRAFANA_PUBLISH:-127.0.0.1:3000}:3000"]}
    assert COMPOSE["grafana"]["profiles"] == ["observability"]


def test_redis_keeps_its_messages_in_containers_and_nothing_in_a_folder_of_somebodys() -> None:
    """In both a deletion leaves nothing of a document there: an append-only file is written anew by it."""
    redis = next(part for part in PARTS if part.name == "redis")
    for command, append_only in ((list(redis.command), "no"), (COMPOSE["redis"]["command"], "yes")):
        assert command[command.index("--appendonly") + 1] == append_only
        assert command[command.index("--save") + 1] == ""
    assert COMPOSE["redis"]["volumes"] == ["redis:/data"]


@pytest.mark.parametrize("name", ["retriever", "worker"])
def test_torch_can_come_from_an_index_of_ones_own(name: str) -> None:
    assert COMPOSE[name]["build"]["args"]["TORCH_INDEX_URL"] == "${TORCH_INDEX_URL:-}"


@pytest.mark.parametrize("name", ["worker", "worker-index", "asker"])
def test_a_worker_has_time_to_end_its_task(name: str) -> None:
    assert COMPOSE[name]["stop_grace_period"] == "40s"


def test_the_gateway_does_without_keys_only_because_it_is_published_on_loopback() -> None:
    assert COMPOSE["gateway"]["environment"]["RAGSTONE_WITHOUT_KEYS"] == "${RAGSTONE_WITHOUT_KEYS:-true}"
    assert COMPOSE["gateway"]["environment"]["RAGSTONE_ALLOWED_HOSTS"] == '${RAGSTONE_ALLOWED_HOSTS:-["gateway"]}'


def test_parts_without_a_lock_listen_on_this_machine_only() -> None:
    for part in PARTS:
        if part.name in ("retriever", "generator"):
            assert part.environment["RAGSTONE_HOST"] == "127.0.0.1"
