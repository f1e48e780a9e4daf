"""A whole run that is watched: its traces at a collector, its logs as JSON lines, its metrics."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.kit.collector import Collector, Kept, collecting
from tests.e2e.canaries import forms
from tests.e2e.stack import Stack, running_stack, until
from tests.unit.test_operations_files import NAMED, panels

TRACE, OTHER_TRACE, LATER_TRACE = ("".join(digit * 32) for digit in "abc")
TEXT, QUESTION, QUERY, KEY, MADE = (f"zqwatch{what}" for what in ("text", "question", "query", "key", "broken"))
ASKED = f"When does the {TEXT} shed open, {QUESTION}?"
OURS = ("gateway", "retriever", "generator", "worker", "reconciler", "asker")
STAGES = {"catalog", "embed", "vector", "bm25", "fuse", "texts", "critic", "rank"}


def traceparent(trace_id: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-{'1' * 16}-01"}


@dataclass
class Watched:
    """What there is to see after a document, questions, a broken body and a wrong key."""

    stack: Stack
    collector: Collector
    answer: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, bytes] = field(default_factory=dict)
    secret: str = ""
    warmed: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched") / "state"
    with collecting() as collector:
        settings = {"RAGSTONE_OTLP_URL": collector.url, "RAGSTONE_LOG_FORMAT": "json", "RAGSTONE_WRITER": "extractive"}
        with (
            running_stack(folder, settings) as stack,
            httpx.Client(base_url=stack.base_url, trust_env=False, timeout=60) as client,
        ):
            one = Watched(stack, collector)
            use(one, client)
            yield one


def use(watched: Watched, client: httpx.Client) -> None:
    stack = watched.stack
    document = {"id": "shed.md", "text": f"# Hours\n\nThe {TEXT} shed opens at nine. Rule 7 forbids lamps.\n"}
    sent = client.post("/v1/documents", json=document, headers=traceparent(OTHER_TRACE)).json()
    job = f"/v1/jobs/{sent['jobs'][0]['id']}"
    until(lambda: client.get(job).json()["state"] == "succeeded", 60)
    got = client.post("/v1/ask", json={"question": ASKED}, headers=traceparent(TRACE))
    watched.answer = got.json()
    later = {**traceparent(LATER_TRACE), "Prefer": "respond-async", "Cache-Control": "no-cache"}
    asked = client.post("/v1/ask", json={"question": ASKED}, headers=later)
    until(lambda: client.get(asked.headers["Location"]).json()["state"] == "succeeded", 60)
    client.get("/v1/documents", params={"limit": 5, "type": QUERY})
    client.post("/v1/ask", content=f'{{"question": "{MADE}', headers={"Content-Type": "application/json"})
    client.post("/v1/ask", json={"question": ASKED, MADE: MADE})
    client.get("/v1/documents", headers={"Authorization": f"Bearer {KEY}"})
    watched.warmed = client.post("/v1/warmup", params={"wait_s": 30}).json()
    ports = {name: stack.environment[f"RAGSTONE_{name.upper()}_PORT"] for name in ("retriever", "generator")}
    for name, port in {"gateway": str(stack.port), **ports}.items():
        watched.metrics[name] = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=20).content
    watched.secret = client.post("/v1/keys", json={"name": "admin", "role": "admin"}).json()["secret"]
    for key in (KEY, watched.secret):
        client.get("/v1/documents", headers={"Authorization": f"Bearer {key}"})


def names(spans: list[Kept], service: str) -> set[str]:
    return {one.name for one in spans if one.service == service}


def assert_connected(spans: list[Kept]) -> None:
    """Every span hangs on another of the trace, up to the one that the client began."""
    known = {one.span_id for one in spans} | {"1" * 16}
    assert [one for one in spans if one.parent_id not in known] == []


def test_a_question_is_one_trace_through_gateway_retriever_and_generator(watched: Watched) -> None:
    assert watched.answer["status"] == "answered", watched.answer
    collector = watched.collector
    collector.until(lambda _: {"POST /write", "write"} <= names(collector.of(TRACE), "generator"))
    collector.until(lambda _: "POST /v1/ask" in names(collector.of(TRACE), "gateway"))
    # Each process sends its spans in its own time.
    collector.until(lambda _: {"POST /retrieve", *STAGES} <= names(collector.of(TRACE), "retriever"))
    spans = collector.of(TRACE)
    assert_connected(spans)
    calls = {"POST retriever /retrieve", "POST generator /write"}
    assert {"POST /v1/ask", *calls} <= names(spans, "gateway")
    assert {"POST /retrieve", *STAGES} <= names(spans, "retriever")
    by_name = {one.name: one for one in spans if one.service != "generator" or one.name == "POST /write"}
    assert by_name["POST /retrieve"].parent_id == by_name["POST retriever /retrieve"].span_id
    assert by_name["POST /write"].parent_id == by_name["POST generator /write"].span_id
    assert by_name["embed"].parent_id == by_name["POST /retrieve"].span_id


def test_a_document_is_one_trace_through_gateway_and_worker(watched: Watched) -> None:
    collector = watched.collector
    collector.until(lambda _: "job" in names(collector.of(OTHER_TRACE), "ingestor-worker"))
    spans = collector.of(OTHER_TRACE)
    assert_connected(spans)
    assert names(spans, "gateway") >= {"POST /v1/documents"}
    assert names(spans, "ingestor-worker") == {"job", "parse", "embed", "index", "publish"}
    by_name = {one.name: one for one in spans}
    assert by_name["job"].parent_id == by_name["POST /v1/documents"].span_id
    assert by_name["publish"].parent_id == by_name["job"].span_id


def test_a_question_for_later_is_one_trace_through_gateway_asker_and_the_others(watched: Watched) -> None:
    collector = watched.collector
    collector.until(lambda _: "job" in names(collector.of(LATER_TRACE), "gateway-asker"))
    collector.until(lambda _: "POST /retrieve" in names(collector.of(LATER_TRACE), "retriever"))
    spans = collector.of(LATER_TRACE)
    assert_connected(spans)
    assert {"job", "POST generator /write"} <= names(spans, "gateway-asker")


def test_nothing_of_documents_questions_or_keys_is_in_the_traces(watched: Watched) -> None:
    sent = b"".join(watched.collector.raw)
    for word in (TEXT, QUESTION, QUERY, KEY, MADE, watched.secret):
        assert not any(form in sent for form in forms(word)), word


@pytest.mark.parametrize("part", OURS)
def test_every_line_of_a_log_is_json_and_tells_nothing_that_it_must_not(watched: Watched, part: str) -> None:
    logged = watched.stack.log(part)
    for word in (TEXT, QUESTION, QUERY, KEY, MADE, watched.secret, "Bearer"):
        assert not any(form in logged.encode() for form in forms(word)), word
    lines = [json.loads(line) for line in logged.splitlines()]
    assert all({"event", "level", "timestamp", "service"} <= set(line) for line in lines)


def test_each_request_has_one_line_with_its_status_time_and_ids(watched: Watched) -> None:
    lines = [json.loads(line) for line in watched.stack.log("gateway").splitlines()]
    mine = [line for line in lines if line["event"] == "request" and line.get("trace_id") == TRACE]
    assert [(line["method"], line["path"], line["status"]) for line in mine] == [("POST", "/v1/ask", 200)]
    assert mine[0]["request_id"] == watched.answer["trace_id"]
    assert mine[0]["ms"] > 0
    assert [line["code"] for line in lines if line.get("status") == 401] == ["key_invalid"]
    asked = watched.answer["trace_id"]
    for part in ("retriever", "generator"):
        theirs = [json.loads(line) for line in watched.stack.log(part).splitlines()]
        assert {line["trace_id"] for line in theirs if line.get("request_id") == asked} == {TRACE}


def test_the_dashboard_finds_every_metric_in_the_running_services(watched: Watched) -> None:
    told = b"".join(watched.metrics.values()).decode()
    shown = {name for panel in panels() for target in panel["targets"] for name in NAMED.findall(target["expr"])}
    # What has no model to tell of has a head without values.
    assert {name for name in shown if f"{name.removesuffix('_bucket')} " not in told} == set()
    values = {line.split(" ")[0] for line in told.splitlines() if not line.startswith("#")}
    for series in (
        'ragstone_questions_total{reason="none",status="answered"}',
        'ragstone_gates_total{gate="good"}',
        'ragstone_jobs{kind="document",state="succeeded"}',
        'ragstone_part_ready{part="asker"}',
        "ragstone_model_loads_total",
        'ragstone_writings_total{end="answered",writer="extractive"}',
        "ragstone_chunks",
    ):
        assert series in values
    for word in (TEXT, QUESTION, QUERY, KEY, MADE, "shed.md"):
        assert word not in told


def test_a_warm_up_says_which_models_are_here(watched: Watched) -> None:
    parts = watched.warmed["parts"]
    assert {name: part["ready"] for name, part in parts.items()} == {"retriever": True, "generator": True}
    assert "all-MiniLM-L6-v2" in parts["retriever"]["detail"]
    assert "extractive" in parts["generator"]["detail"]


def test_the_logs_are_where_they_are_looked_for(watched: Watched) -> None:
    assert Path(watched.stack.folder.logs / "gateway.log").stat().st_size > 0
