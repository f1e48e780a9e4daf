"""From nothing to the first answer, and what the time goes to."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import httpx

from tests.containers.engine import Containers
from tests.containers.visitor import FRESH, Known

PATIENCE_S = 180.0


@dataclass
class Cold:
    """Seconds since the beginning until each thing was so."""

    began: float
    """Seconds since the epoch."""
    steps: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)

    def note(self, step: str) -> None:
        """It is so from now on; only the first time counts."""
        self.steps.setdefault(step, time.time() - self.began)

    def __str__(self) -> str:
        return ", ".join(f"{step} {at:.1f} s" for step, at in sorted(self.steps.items(), key=lambda one: one[1]))


def until_answered(base_url: str, one: Known, start: Callable[[], object], warm: bool = False) -> Cold:
    """Call ``start`` and ask at once, again and again; with ``warm`` a page asks for a warm-up first."""
    cold = Cold(time.time())
    start()
    cold.note("command done")
    with httpx.Client(base_url=base_url, timeout=30, trust_env=False, headers=FRESH) as client:
        while "answered" not in cold.steps:
            assert time.time() - cold.began < PATIENCE_S, str(cold)
            try:
                _look(client, one, cold, warm)
            except httpx.TransportError:
                time.sleep(0.05)
    return cold


def _look(client: httpx.Client, one: Known, cold: Cold, warm: bool) -> None:
    ready = client.get("/readyz").json()
    cold.note("gateway up")
    for name in ("catalog", "generator", "retriever"):
        if ready["parts"].get(name, {}).get("ready"):
            cold.note(f"{name} ready")
    if warm and "warm" not in cold.steps:
        if client.post("/v1/warmup", params={"wait_s": 30}).status_code == 200:
            cold.note("warm")
        return
    response = client.post("/v1/ask", json={"question": one.question})
    if response.status_code == 200 and response.json()["text"] == one.text:
        cold.degraded = response.json()["degraded"]
        cold.note("answered")


def started(containers: Containers, began: float) -> dict[str, float]:
    """Seconds from a moment until the engine had started each container's process."""
    return {
        name: _seconds(containers.look(id)[0]["State"]["StartedAt"]) - began for name, id in containers.named().items()
    }


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment[:26].rstrip("Z") + "+00:00").timestamp()
