"""docker-compose.yml starts the same processes as the local run, in the same way."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from services.local.processes import CHILD_DEFAULTS, PARTS, Part

ROOT = Path(__file__).parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
OURS = [part for part in PARTS if part.command[:2] == ("{python}", "-m")]
SERVICES = ("RETRIEVER", "GENERATOR", "GATEWAY")
ADDRESSES = {"RAGSTONE_REDIS_URL", "RAGSTONE_CHROMA_URL", *(f"RAGSTONE_{name}_URL" for name in SERVICES)}


def test_compose_has_every_part_and_only_ollama_besides() -> None:
    assert set(COMPOSE) - {"ollama"} == {part.name for part in PARTS}
    assert COMPOSE["ollama"]["profiles"] == ["ollama"]


@pytest.mark.parametrize("part", OURS, ids=lambda part: part.name)
def test_our_processes_run_the_same_command(part: Part) -> None:
    assert COMPOSE[part.name]["command"] == ["python", *part.command[1:]]


@pytest.mark.parametrize("part", OURS, ids=lambda part: part.name)
def test_our_processes_get_the_same_addresses(part: Part) -> None:
    environment = COMPOSE[part.name]["environment"]
    assert set(environment) >= ADDRESSES | {"RAGSTONE_STATE_DIR", "RAGSTONE_HOST"}
    assert environment["RAGSTONE_REDIS_URL"].startswith("redis://redis:")


@pytest.mark.parametrize("part", OURS, ids=lambda part: part.name)
def test_our_processes_wait_for_at_least_the_same_parts(part: Part) -> None:
    assert set(COMPOSE[part.name].get("depends_on", {})) >= set(part.waits_for)


def test_the_images_carry_the_same_environment_as_local_children() -> None:
    dockerfile = (ROOT / "services" / "Dockerfile").read_text()
    for name, value in CHILD_DEFAULTS.items():
        assert f"{name}={value}" in dockerfile


def test_only_the_gateway_is_published_and_on_loopback() -> None:
    published = {name: service["ports"] for name, service in COMPOSE.items() if "ports" in service}
    assert published == {"gateway": ["${RAGSTONE_PUBLISH:-127.0.0.1:8000}:8000"]}


def test_redis_writes_nothing_to_disk_in_both() -> None:
    """It holds messages and answers for a while, and what is forgotten must not lie in a file of its."""
    redis = next(part for part in PARTS if part.name == "redis")
    for command in (list(redis.command), COMPOSE["redis"]["command"]):
        assert command[command.index("--appendonly") + 1] == "no"
        assert command[command.index("--save") + 1] == ""


@pytest.mark.parametrize("name", ["retriever", "worker"])
def test_torch_can_come_from_an_index_of_ones_own(name: str) -> None:
    assert COMPOSE[name]["build"]["args"]["TORCH_INDEX_URL"] == "${TORCH_INDEX_URL:-}"


def test_a_worker_has_time_to_end_its_task() -> None:
    assert COMPOSE["worker"]["stop_grace_period"] == "40s"


def test_the_gateway_does_without_keys_only_because_it_is_published_on_loopback() -> None:
    assert COMPOSE["gateway"]["environment"]["RAGSTONE_WITHOUT_KEYS"] == "${RAGSTONE_WITHOUT_KEYS:-true}"
    assert COMPOSE["gateway"]["environment"]["RAGSTONE_ALLOWED_HOSTS"] == '${RAGSTONE_ALLOWED_HOSTS:-["gateway"]}'


def test_parts_without_a_lock_listen_on_this_machine_only() -> None:
    for part in PARTS:
        if part.name in ("retriever", "generator"):
            assert part.environment["RAGSTONE_HOST"] == "127.0.0.1"
