"""The whole of Ragstone in real containers: built, asked, scaled, restarted, killed, stopped and started again.

``make test-compose`` runs it, and shows the figures of docs/containers.md; without an engine it is skipped.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.containers.cold import Cold, started, until_answered
from tests.containers.engine import ROOT, Containers, image_bytes, layers_of, until, why_no_engine
from tests.containers.visitor import NO_CONNECTION, Known, Visitor, known

WHOLE = os.environ.get("RAGSTONE_TEST_COMPOSE") == "whole"
NOT = "set RAGSTONE_TEST_COMPOSE=whole (make test-compose)" if not WHOLE else why_no_engine()
pytestmark = pytest.mark.skipif(NOT is not None, reason=str(NOT))

BASE = "python:3.11.14-slim-bookworm"
LEAN_MB = 250
"""What gateway and generator may add to their base image."""


@dataclass(frozen=True)
class Loss:
    """What visitors may notice while a part is away: these failures, and after so many seconds none."""

    failures: frozenset[str] = frozenset()
    within_s: float = 0.0
    degraded: bool = False


UNNOTICED = Loss()
LOSSES = {
    "gateway": Loss(frozenset({NO_CONNECTION, "retriever_unavailable"}), 30),
    "generator": Loss(frozenset({"generator_unavailable", "writer_unavailable"}), 30),
    # One of two: the other one answers.
    "retriever": UNNOTICED,
    # Exact words answer alone.
    "chroma": Loss(degraded=True),
    "redis": UNNOTICED,
    "worker": UNNOTICED,
    "worker-index": UNNOTICED,
    "asker": UNNOTICED,
    "reconciler": UNNOTICED,
}
SERVICES = sorted(LOSSES)
BACK_S = 120.0
"""Until a container that was killed or restarted is healthy again."""

COLD_S = 120.0
KILLED_RETRIEVER_S = 60.0

say = print


@pytest.fixture(scope="module")
def containers() -> Iterator[Containers]:
    """Images are built, and nothing runs yet; nothing is left at the end."""
    one = Containers()
    try:
        say(f"\nbuilt in {one.build():.0f} s")
        yield one
    finally:
        one.down("-v", "--remove-orphans")


@pytest.fixture(scope="module")
def questions(containers: Containers) -> list[Known]:
    """The sample corpus is in, and these were answered rightly."""
    began = time.monotonic()
    containers.up()
    client = httpx.Client(base_url=containers.base_url, timeout=30, trust_env=False)
    until(lambda: _ready(client), COLD_S)
    say(f"first start, with empty volumes: ready after {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    words = [sys.executable, "-m", "services.local", "ingest", "corpus", "--url", containers.base_url]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    say(f"corpus/ ingested over HTTP in {time.monotonic() - began:.1f} s")
    return known(containers.base_url, 6)


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_lean_images_are_lean_and_heavy_ones_share_their_layers(containers: Containers) -> None:
    base = image_bytes(BASE)
    added = {
        one: (image_bytes(f"ragstone-{one}:0.1.0") - base) / 1e6
        for one in ("gateway", "generator", "retriever", "ingestor")
    }
    say("images, MB above the base:", {name: round(size) for name, size in added.items()})
    assert added["gateway"] < LEAN_MB
    assert added["generator"] < LEAN_MB
    shared = set(layers_of("ragstone-retriever:0.1.0")) & set(layers_of("ragstone-ingestor:0.1.0"))
    assert len(shared) > len(layers_of(BASE)) + 2, "the libraries of models and the models themselves are one copy"


def test_an_answer_is_cited_and_its_quotation_stands_in_the_source(
    containers: Containers, questions: list[Known]
) -> None:
    with httpx.Client(base_url=containers.base_url, timeout=30, trust_env=False) as client:
        answer = client.post("/v1/ask", json={"question": questions[0].question}).json()
        cited = answer["citations"][0]
        source = client.get(f"/v1/documents/{cited['document_id']}/source", params={"as": "text"})
    assert source.text[cited["start"] : cited["end"]] == cited["quote"]


def test_every_container_is_healthy_cannot_write_and_keeps_to_its_memory(
    containers: Containers, questions: list[Known]
) -> None:
    named = containers.named()
    until(lambda: all(containers.healthy(id) for id in named.values()), BACK_S, 1)
    _say_memory(containers)
    for name, id in named.items():
        (found,) = containers.look(id)
        used = containers.memory(id)
        assert used["limit"] == found["HostConfig"]["Memory"] > 0, name
        assert used["peak"] <= used["limit"]
        assert used.get("oom_kill", 0) == 0, name
        assert found["HostConfig"]["LogConfig"]["Config"] == {"max-size": "10m", "max-file": "3"}
        wrote = subprocess.run(["docker", "exec", id, "sh", "-c", "touch /usr/x"], capture_output=True)
        assert wrote.returncode != 0, f"{name} can write to its root file system"
        if found["Config"]["Image"].startswith("ragstone-"):
            assert containers.inside(id, "id", "-u").strip() == "10001"
            tools = "for tool in pip gcc cc make git; do command -v $tool && exit 1; done; ! python -c 'import pip'"
            containers.inside(id, "sh", "-c", f"{tools} 2>/dev/null")


def test_nothing_is_fetched_exported_or_compiled_at_a_start(containers: Containers, questions: list[Known]) -> None:
    for service in ("retriever", "worker"):
        log = containers.logs(service)
        assert "embedder_loaded" in log
        assert "model_exported" not in log
        assert "export_damaged" not in log
    (retriever,) = containers.ids("retriever")
    modules = "services.retriever.app", "onnxruntime", "asyncio"
    compiled = "import importlib as i, sys; [print(i.import_module(name).__cached__) for name in sys.argv[1:]]"
    for file in containers.inside(retriever, "python", "-c", compiled, *modules).split():
        containers.inside(retriever, "test", "-f", file)


def test_every_retriever_is_asked(containers: Containers, questions: list[Known]) -> None:
    containers.up(worker=3, retriever=2)
    named = containers.named()
    assert {"worker-3", "retriever-2"} <= set(named)
    until(lambda: all(containers.healthy(id) for id in named.values()), BACK_S, 1)
    before = {name: _searches(containers, id) for name, id in named.items() if name.startswith("retriever")}
    with Visitor(containers.base_url, questions) as visitor:
        until(lambda: len(visitor.heard) >= 20, 60)
    asked = {name: _searches(containers, named[name]) - before[name] for name in before}
    say("searches by retriever:", asked)
    assert [one.failure or one.wrong for one in visitor.heard if one.failure or one.wrong] == []
    assert min(asked.values()) >= 0.3 * sum(asked.values())


@pytest.mark.parametrize("how", ["restarted", "killed"])
@pytest.mark.parametrize("service", SERVICES)
def test_a_part_that_goes_costs_no_more_than_is_said(
    containers: Containers, questions: list[Known], service: str, how: str
) -> None:
    containers.up(worker=3, retriever=2)
    loss = LOSSES[service]
    until(lambda: all(containers.healthy(id) for id in containers.named().values()), BACK_S, 1)
    for name, id in containers.named().items():
        if name.rpartition("-")[0] != service:
            continue
        with Visitor(containers.base_url, questions) as visitor:
            until(lambda at=visitor: at.steady(2), 30)  # type: ignore[misc]
            before, began = containers.start_of(id), time.monotonic()
            (containers.restart if how == "restarted" else containers.kill)(id)
            back = until(lambda one=id, was=before: containers.healthy(one, was), BACK_S, 0.3)  # type: ignore[misc]
            until(lambda at=visitor: at.steady(3), BACK_S)  # type: ignore[misc]
        heard = visitor.since(began)
        failed = [one for one in heard if one.failure is not None]
        healed = max((one.ended - began for one in failed), default=0.0)
        slowest = max(one.ended - one.asked for one in heard)
        say(
            f"{name} {how}: healthy after {back:.1f} s; {len(failed)} of {len(heard)} questions failed "
            f"{sorted({str(one.failure) for one in failed})}, the last after {healed:.1f} s; "
            f"{sum(bool(one.degraded) for one in heard)} degraded; slowest {slowest:.1f} s"
        )
        assert [one.wrong for one in heard if one.wrong] == []
        assert {one.failure for one in failed} <= loss.failures, name
        assert healed <= loss.within_s, name
        assert loss.degraded or not any(one.degraded for one in heard), name


def test_documents_that_a_killed_worker_had_taken_come_in(containers: Containers, questions: list[Known]) -> None:
    containers.up(worker=3, retriever=2)
    rows = [{"id": f"boat-{n}", "text": f"Boat {n} has the call sign QX{n:05d}. " * 40} for n in range(200)]
    client = httpx.Client(
        base_url=containers.base_url, headers={"Ragstone-Space": "boats"}, timeout=30, trust_env=False
    )
    lines = "\n".join(json.dumps(row) for row in rows)
    sent = client.post("/v1/documents", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()
    job = f"/v1/jobs/{sent['jobs'][0]['id']}"
    until(lambda: client.get(job).json()["done"] > 0, 60)
    for id in containers.ids("worker"):
        containers.kill(id)
    took = until(lambda: client.get(job).json()["state"] not in ("queued", "running"), 240, 0.5)
    ended = client.get(job).json()
    say(f"all workers killed while 200 documents go in: all in after {took:.0f} s, {ended['attempts']} attempts")
    assert ended["state"] == "succeeded", ended
    assert len(client.get("/v1/documents", params={"limit": 500}).json()["items"]) == len(rows)


def test_a_killed_retriever_answers_soon(containers: Containers, questions: list[Known]) -> None:
    containers.up(worker=1, retriever=1)
    (id,) = containers.ids("retriever")
    for warm in (False, True):
        until(lambda: containers.healthy(id), BACK_S, 0.3)
        # The engine waits longer before it starts again what lived for less than ten seconds.
        time.sleep(11)
        cold = until_answered(containers.base_url, questions[0], lambda: containers.kill(id), warm)
        cold.steps["process started"] = started(containers, cold.began)["retriever-1"]
        _say_cold(f"the only retriever killed{', and a warm-up asked for' if warm else ''}", cold)
        assert cold.steps["answered"] < KILLED_RETRIEVER_S


@pytest.mark.parametrize("warm", [False, True])
def test_everything_is_there_after_down_and_up(containers: Containers, questions: list[Known], warm: bool) -> None:
    containers.down()
    assert containers.ids() == []
    cold = until_answered(containers.base_url, questions[0], containers.up, warm)
    at = started(containers, cold.began)
    cold.steps["first process started"], cold.steps["last process started"] = min(at.values()), max(at.values())
    _say_cold(f"down, then up with warm images{', and a warm-up asked for' if warm else ''}", cold)
    assert cold.steps["answered"] < COLD_S
    with httpx.Client(base_url=containers.base_url, timeout=60, trust_env=False) as client:
        for one in questions:
            answer = client.post("/v1/ask", json={"question": one.question}).json()
            assert answer["text"] == one.text
    _say_memory(containers)


def _searches(containers: Containers, id: str) -> float:
    page = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8002/metrics').read().decode())"
    lines = containers.inside(id, "python", "-c", page).splitlines()
    return sum(
        float(one.split()[-1]) for one in lines if one.startswith("ragstone_requests_total") and '"/retrieve"' in one
    )


def _say_cold(what: str, cold: Cold) -> None:
    say(f"{what}: {cold}{' degraded: ' + ', '.join(cold.degraded) if cold.degraded else ''}")


def _say_memory(containers: Containers) -> None:
    say("memory, MB (programs' own; most so far with files that were read; limit):")
    for name, id in containers.named().items():
        used = containers.memory(id)
        say(f"  {name}: {used['own'] / 1e6:.0f}, {used['peak'] / 1e6:.0f}, {used['limit'] / 1e6:.0f}")
