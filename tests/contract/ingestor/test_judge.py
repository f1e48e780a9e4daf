"""The judge over HTTP: against a real server that follows a script, and, where a model is there, against llama.cpp."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from services.ingestor.adapters.judge import HttpJudge
from services.local.ports import free_port
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.evaluation.reviewers.accuracy import AccuracyCase
from services.shared.evaluation.reviewers.judging import (
    accuracy_prompt,
    read_accuracy,
    read_validity,
    validity_prompt,
)

MODEL_FILE = os.environ.get("RAGSTONE_TEST_GGUF", "")
CASE = AccuracyCase("How many people does she lead?", "She leads six people.", [], None, "Juno leads six people [1].")
PROMPT = accuracy_prompt(CASE)


def said(content: Any, finish_reason: str = "stop") -> dict[str, Any]:
    """A completion as the servers send it."""
    message = {"role": "assistant", "content": content}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]}


@dataclass
class Script:
    """What the server plays, one step a request, the last one again and again: (status, body), seconds, or close."""

    steps: list[tuple[int, Any] | float | str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""

    def next_step(self) -> tuple[int, Any] | float | str:
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


@pytest.fixture
def server() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            script.paths.append(self.path)
            script.asked.append(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}"))
            step = script.next_step()
            if isinstance(step, float):
                time.sleep(step)
            if not isinstance(step, tuple):
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, body = step
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer

        def log_message(self, *_: Any) -> None:
            """Nothing on the test's output."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{running.server_address[1]}"
    yield script
    running.shutdown()
    running.server_close()
    thread.join(5)


def judge_at(url: str, **changes: Any) -> HttpJudge:
    """A judge with short limits."""
    settings: dict[str, Any] = {"url": url, "model": "judge-1b", "timeout_s": 5.0, "max_tokens": 100, "pause_s": 0.0}
    return HttpJudge(**{**settings, **changes})


def problem(judge: HttpJudge) -> str:
    """What the judge says when it cannot be asked; it always names itself."""
    with pytest.raises(RagstoneError) as caught:
        judge.ask(PROMPT)
    assert caught.value.code is ErrorCode.JUDGE_UNAVAILABLE
    assert "judge-1b at http" in caught.value.detail
    return caught.value.detail


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_one_question_is_sent_as_the_servers_want_it(server: Script, ending: str) -> None:
    server.steps = [(200, said('{"reason": "same", "verdict": "right"}'))]
    judge = judge_at(server.url + ending)
    assert read_accuracy(judge.ask(PROMPT)).passed
    assert judge.name == "judge-1b"
    assert server.paths == ["/v1/chat/completions"]
    (body,) = server.asked
    assert {name: body[name] for name in ("model", "temperature", "seed", "max_tokens", "stream")} == {
        "model": "judge-1b", "temperature": 0, "seed": 0, "max_tokens": 100, "stream": False,
    }  # fmt: skip
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == PROMPT.schema


def test_fences_and_thoughts_are_read(server: Script) -> None:
    server.steps = [(200, said('<think>Hm.</think>\n```json\n{"reason": "no", "verdict": "wrong"}\n```'))]
    assert read_accuracy(judge_at(server.url).ask(PROMPT)).score == 0.0


def test_nonsense_of_the_model_is_no_verdict(server: Script) -> None:
    server.steps = [(200, said("I would say that it is right."))]
    with pytest.raises(ValueError, match="no verdict"):
        read_accuracy(judge_at(server.url).ask(PROMPT))


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ((404, {"error": {"message": "model 'judge-1b' not found"}}), "RAGSTONE_JUDGE_MODEL"),
        ((404, {"error": "model 'judge-1b' not found"}), "model 'judge-1b' not found"),
        ((400, {"error": {"message": "the request exceeds the available context size"}}), "exceeds the available"),
        ((401, {"detail": "no key"}), "wants no key"),
        ((301, b""), "answered 301"),
        ((500, b"<html>oops</html>"), "answered 500 (<html>oops</html>); see its log"),
        ((200, b"<html>"), "answers no JSON"),
        ((200, b"\xff\xfe"), "answers no JSON"),
        ((200, []), "another form"),
        ((200, {"choices": []}), "another form"),
        ((200, {"choices": [{"message": None}]}), "another form"),
        ((200, {"choices": ["text"]}), "another form"),
        ((200, said(None)), "empty text"),
        ((200, said(" ")), "empty text"),
        ((200, said('{"reason": "and on and on', "length")), "RAGSTONE_JUDGE_MAX_TOKENS"),
        ("close", "cannot be reached"),
    ],
)
def test_every_failure_names_the_judge_and_what_to_do(server: Script, step: tuple[int, Any] | str, told: str) -> None:
    server.steps = [step]
    assert told in problem(judge_at(server.url))


@pytest.mark.parametrize("first", [(500, {}), (503, {"error": {"message": "Loading model"}}), "close"])
def test_a_passing_failure_is_tried_once_more(server: Script, first: tuple[int, Any] | str) -> None:
    server.steps = [first, (200, said('{"reason": "same", "verdict": "right"}'))]
    assert read_accuracy(judge_at(server.url).ask(PROMPT)).passed
    assert len(server.asked) == 2


def test_a_lasting_failure_is_tried_twice_and_no_more(server: Script) -> None:
    server.steps = [(500, {})]
    problem(judge_at(server.url))
    assert len(server.asked) == 2


def test_a_refusal_is_not_tried_again(server: Script) -> None:
    server.steps = [(404, {})]
    problem(judge_at(server.url))
    assert len(server.asked) == 1


def test_a_server_that_hangs_is_given_up(server: Script) -> None:
    server.steps = [2.0]
    began = time.monotonic()
    assert "did not answer in time" in problem(judge_at(server.url, timeout_s=0.2))
    assert time.monotonic() - began < 1.5


def test_a_server_that_is_not_there_is_named() -> None:
    assert "is it running" in problem(judge_at(f"http://127.0.0.1:{free_port()}"))


@pytest.mark.parametrize("url", ["http://[::1", "ftp://127.0.0.1", "http://127.0.0.1:99999", "httpjudge"])
def test_an_impossible_address_is_named(url: str) -> None:
    with pytest.raises(RagstoneError, match="RAGSTONE_JUDGE_URL"):
        judge_at(url).ask(PROMPT)


def test_a_probe_is_one_short_question(server: Script) -> None:
    server.steps = [(200, said(None, "length"))]
    judge_at(server.url).probe()
    assert server.asked[0]["max_tokens"] < 20
    server.steps = [(200, {"pong": True})]
    with pytest.raises(RagstoneError, match="another form"):
        judge_at(server.url).probe()
    server.steps = [(404, {"error": "model 'judge-1b' not found"})]
    with pytest.raises(RagstoneError, match="not found"):
        judge_at(server.url).probe()


def test_one_that_replied_just_now_is_not_probed(server: Script) -> None:
    server.steps = [(200, said('{"reason": "", "verdict": "right"}'))]
    judge = judge_at(server.url)
    judge.ask(PROMPT)
    judge.probe()
    assert len(server.asked) == 1


def test_without_a_name_it_is_the_first_model_that_the_server_names(server: Script) -> None:
    judge = judge_at(server.url, model=None)
    server.steps = [(200, {"data": [{"id": "seven-b"}, {"id": "one-b"}]}), (200, said("ready"))]
    judge.probe()
    assert judge.name == "seven-b"
    assert (server.paths[0], server.asked[1]["model"]) == ("/v1/models", "seven-b")
    server.steps = [(200, {"data": []})]
    with pytest.raises(RagstoneError, match="RAGSTONE_JUDGE_MODEL"):
        judge_at(server.url, model="").probe()


@pytest.fixture(scope="module")
def llama_url() -> Iterator[str]:
    """llama.cpp's own server with the model that RAGSTONE_TEST_GGUF names."""
    if not os.path.isfile(MODEL_FILE):
        pytest.skip("RAGSTONE_TEST_GGUF names no model file")
    xllamacpp = pytest.importorskip("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = MODEL_FILE
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = free_port()
    parameters.n_ctx, parameters.n_parallel = 2048, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    running = xllamacpp.Server(parameters)
    yield running.listening_address
    del running


@pytest.mark.slow
def test_a_real_server_keeps_to_the_schema(llama_url: str) -> None:
    judge = judge_at(llama_url, timeout_s=120.0, max_tokens=200)
    judge.probe()
    review = read_accuracy(judge.ask(PROMPT))
    assert review.score in (0.0, 0.5, 1.0)
    assert judge.ask(PROMPT) == judge.ask(PROMPT)
    assert 0.0 <= read_validity(judge.ask(validity_prompt(CASE.answer))).score <= 1.0


@pytest.mark.slow
def test_a_real_server_whose_window_is_too_small_is_named(llama_url: str) -> None:
    endless = accuracy_prompt(AccuracyCase("1 " * 2000, "2 " * 2000, [], None, "3 " * 2000))
    with pytest.raises(RagstoneError, match="context"):
        judge_at(llama_url, timeout_s=120.0).ask(endless)
