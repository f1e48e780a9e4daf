"""Ragstone in real containers, under a project name of its own: what a test starts, looks at and kills."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from services.local.ports import free_port

ROOT = Path(__file__).parents[2]
NO_ENV = Path(__file__).with_name("none.env")
COMMANDS = (["docker", "compose"], ["docker-compose"])
CGROUP = """
cd /sys/fs/cgroup
if [ -f memory.max ]; then
    echo limit $(cat memory.max) peak $(cat memory.peak)
    grep '^anon ' memory.stat
    grep '^oom_kill ' memory.events
else
    cd memory
    echo limit $(cat memory.limit_in_bytes) peak $(cat memory.max_usage_in_bytes)
    grep '^rss ' memory.stat
    grep '^oom_kill ' memory.oom_control
fi
true
"""
"""What a container sees of its own memory, under the second version of cgroups or the first."""


def run(*words: str, timeout_s: float = 120.0, environment: Mapping[str, str] | None = None) -> str:
    """Its standard output; fails with what it said when it fails."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=timeout_s, env=environment)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr[-3000:]}{done.stdout[-1000:]}"
    return done.stdout


def works(*words: str) -> bool:
    """Is there such a command, and does it end well?"""
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run(words, capture_output=True, timeout=60).returncode == 0


def why_no_engine() -> str | None:
    """Why there can be no containers here; None when there can."""
    if not works("docker", "info"):
        return "no docker engine answers (docker info)"
    if not any(works(*command, "version") for command in COMMANDS):
        return "neither docker compose nor docker-compose is installed"
    return None


def until(what: Callable[[], bool], patience_s: float, every_s: float = 0.1) -> float:
    """Wait for something to become true; how long it took, seconds."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < patience_s, f"it did not happen within {patience_s:.0f} s"
        time.sleep(every_s)
    return time.monotonic() - began


class Containers:
    """One project of compose, published on a free port; no .env of anybody's is read."""

    def __init__(self) -> None:
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.project = f"ragstone-test-{self.port}"
        self._command = next(command for command in COMMANDS if works(*command, "version"))
        own = {name: value for name, value in os.environ.items() if not name.startswith(("RAGSTONE_", "COMPOSE_"))}
        for name in ("DATABASE_URL", "OLLAMA_HOST"):
            own.pop(name, None)
        self._environment = {**own, "RAGSTONE_PUBLISH": f"127.0.0.1:{self.port}"}

    def compose(self, *words: str, timeout_s: float = 300.0) -> str:
        """docker compose with this project."""
        words = (*self._command, "-p", self.project, "--env-file", str(NO_ENV), *words)
        return run(*words, timeout_s=timeout_s, environment=self._environment)

    def build(self) -> float:
        """Make the images; how long that took, seconds."""
        began = time.monotonic()
        self.compose("build", timeout_s=3600)
        return time.monotonic() - began

    def up(self, **scale: int) -> None:
        """Start everything that does not run, with so many containers of a service."""
        self.compose(
            "up", "-d", "--no-build", *(word for one in scale.items() for word in ("--scale", "=".join(map(str, one))))
        )

    def down(self, *words: str) -> None:
        """Stop and remove the containers; with "-v" their volumes too."""
        self.compose("down", *words)

    def ids(self, service: str | None = None) -> list[str]:
        """Containers that exist, of one service or of all."""
        return self.compose("ps", "-q", *([] if service is None else [service])).split()

    def look(self, *ids: str) -> list[dict[str, Any]]:
        """What the engine says of containers."""
        found: list[dict[str, Any]] = json.loads(run("docker", "inspect", *ids)) if ids else []
        return found

    def named(self) -> dict[str, str]:
        """Ids by service and number, as worker-2."""
        labels = [(one["Id"], one["Config"]["Labels"]) for one in self.look(*self.ids())]
        numbered = "com.docker.compose.container-number"
        return {f"{label['com.docker.compose.service']}-{label[numbered]}": id for id, label in sorted(labels, key=str)}

    def healthy(self, id: str, other_than: str = "") -> bool:
        """Does it run, and does its health check say that it is well? Another start can be asked for than a known one.

        The engine notices a death a moment later.
        """
        state = self.look(id)[0]["State"]
        return bool(state["Running"] and state["StartedAt"] != other_than and state["Health"]["Status"] == "healthy")

    def start_of(self, id: str) -> str:
        """Stands for one life of a container's process."""
        return str(self.look(id)[0]["State"]["StartedAt"])

    def restart(self, id: str) -> None:
        """As `docker restart` does: asked to end, started again."""
        run("docker", "restart", "-t", "45", id)

    def kill(self, id: str) -> None:
        """SIGKILL for its first process, as the kernel does it; the restart policy is what brings it back."""
        (found,) = self.look(id)
        os.kill(found["State"]["Pid"], signal.SIGKILL)

    def inside(self, id: str, *words: str) -> str:
        """Run a command in a container."""
        return run("docker", "exec", id, *words)

    def memory(self, id: str) -> dict[str, int]:
        """By the container's own cgroup: its limit, the most that it took so far, what its programs take (own), all
        bytes, and how often the kernel had to kill.

        Files that were read stay in memory for as long as there is room: they are in the most, and not in own.
        """
        said = self.inside(id, "sh", "-c", CGROUP).split()
        found = {name: int(value) for name, value in zip(said[::2], said[1::2], strict=True)}
        found["own"] = found.pop("anon", found.pop("rss", 0))
        return found

    def logs(self, service: str) -> str:
        """What a service's containers wrote."""
        return self.compose("logs", "--no-color", service)


def image_bytes(image: str) -> int:
    """Its size on disk, layers that it shares included."""
    return int(run("docker", "image", "inspect", "-f", "{{.Size}}", image))


def layers_of(image: str) -> Sequence[str]:
    """Its layers, lowest first."""
    found: list[str] = json.loads(run("docker", "image", "inspect", "-f", "{{json .RootFS.Layers}}", image))
    return found
