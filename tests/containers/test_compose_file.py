"""The compose file, its .env.example and the Dockerfile hold what docs/containers.md promises; nothing is started."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.containers.engine import COMMANDS, works

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
FILE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = FILE["services"]
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "services" / "Dockerfile").read_text(encoding="utf-8")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
DEFAULTS: dict[str, str] = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", TEXT))
"""What the file takes for a variable that nobody sets."""

every = pytest.mark.parametrize("name", SERVICES)


def example() -> dict[str, tuple[str, str]]:
    """Each variable of .env.example: its value, and the comment above it."""
    found: dict[str, tuple[str, str]] = {}
    comment: list[str] = []
    for line in EXAMPLE.splitlines():
        if assigned := re.fullmatch(r"#?([A-Z][A-Z_]*)=(.*)", line):
            found[assigned[1]] = assigned[2], " ".join(comment)
        comment = [*comment, line.removeprefix("# ")] if line.startswith("# ") else []
    return found


def test_every_variable_of_the_file_stands_in_the_example_with_a_sentence() -> None:
    assert set(re.findall(r"\$\{(\w+)", TEXT)) == set(DEFAULTS), "each has a default: no .env is needed"
    assert set(example()) == {*DEFAULTS, "COMPOSE_PROFILES"}
    for name, (_, comment) in example().items():
        assert len(comment.split()) >= 4, f"{name}: {comment}"


def test_the_example_names_the_defaults_and_changes_only_who_writes() -> None:
    active = dict(re.findall(r"^([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
    assert active == {"COMPOSE_PROFILES": "ollama", "OLLAMA_HOST": "http://ollama:11434"}
    for name, (value, _) in example().items():
        if name not in active:
            assert value == DEFAULTS[name].removeprefix('["').removesuffix('"]'), name


def test_profiles_are_the_four_that_are_optional() -> None:
    named = {profile for service in SERVICES.values() for profile in service.get("profiles", ())}
    assert named == {"ollama", "gpu", "postgres", "observability"}


@every
def test_images_are_pinned_by_version_and_ours_by_the_products(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].partition(":")
    assert re.fullmatch(r"v?\d+(\.\d+)+", tag), "a version, no latest"
    if image.startswith("ragstone-"):
        assert tag == VERSION
        assert SERVICES[name]["build"]["args"]["SERVICE"] == image.removeprefix("ragstone-")


@every
def test_a_container_has_no_more_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "3"}
    assert service["restart"] == ("on-failure" if name == "ollama-pull" else "unless-stopped")


@every
def test_health_is_asked_by_the_file_or_by_our_image(name: str) -> None:
    ours = SERVICES[name]["image"].startswith("ragstone-")
    assert "healthcheck" in SERVICES[name] or ours or name == "ollama-pull"
    for condition in SERVICES[name].get("depends_on", {}):
        assert condition in SERVICES


def test_state_lies_on_named_volumes_and_nothing_of_it_in_a_container() -> None:
    mounted = {one.split(":")[0] for service in SERVICES.values() for one in service.get("volumes", ())}
    named = {one for one in mounted if not one.startswith((".", "$"))}
    assert named == set(FILE["volumes"])
    assert all(":ro" in one for s in SERVICES.values() for one in s.get("volumes", ()) if one.startswith((".", "$")))


def test_the_images_name_the_products_version_and_no_root() -> None:
    assert f'org.opencontainers.image.version="{VERSION}"' in DOCKERFILE
    assert DOCKERFILE.rstrip().splitlines()[-2:] == ["USER 10001:10001", "VOLUME /data"]


def test_docker_compose_takes_the_file_with_every_profile() -> None:
    command = next((one for one in COMMANDS if works(*one, "version")), None)
    if command is None:
        pytest.skip("neither docker compose nor docker-compose is installed")
    profiles = [word for name in ("ollama", "gpu", "postgres", "observability") for word in ("--profile", name)]
    for words in ([], profiles):
        checked = subprocess.run(
            [*command, "--env-file", str(ROOT / ".env.example"), *words, "config", "-q"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert checked.returncode == 0, checked.stderr
