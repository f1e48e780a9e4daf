"""Questions that are answered later, on a whole stack: the same answers, and a model that stops when nobody waits."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.generator.ollama_server import OllamaServer, said
from tests.contract.generator.scripted_server import scripted
from tests.e2e.stack import Stack, running_stack, until

LATER = {"Prefer": "respond-async"}
TEXT = "# The boathouse\n\nThe boathouse opens at half past six. The spare key hangs left of the door."
QUESTION = "When does the boathouse open?"
STOPS_WITHIN_S = 3.0


def over(client: httpx.Client, job_id: str, patience_s: float = 60.0) -> dict[str, Any]:
    last: dict[str, Any] = {}

    def ended() -> bool:
        last.update(client.get(f"/v1/jobs/{job_id}").json())
        return last["state"] not in ("queued", "running")

    until(ended, patience_s, told=lambda: str(last))
    return last


def test_later_the_answer_is_what_it_is_at_once(stack: Stack, space: str) -> None:
    assert stack.add(TEXT, "boathouse.md", space).state == "succeeded"
    with httpx.Client(base_url=stack.base_url, headers={"Ragstone-Space": space}, timeout=60) as client:
        now = client.post("/v1/ask", json={"question": QUESTION}).json()
        accepted = client.post("/v1/ask", json={"question": QUESTION}, headers=LATER)
        assert (accepted.status_code, accepted.headers["Preference-Applied"]) == (202, "respond-async")
        job = over(client, accepted.headers["Location"].rsplit("/", 1)[1])
        later = job["result"]
        assert (later["status"], later["text"]) == (now["status"], now["text"])
        assert [one["quote"] for one in later["citations"]] == [one["quote"] for one in now["citations"]]
        questions = [QUESTION, "Where does the spare key hang?", "Who won the cup in 1911?"]
        lines = "".join(json.dumps({"question": one}) + "\n" for one in questions)
        sent = client.post("/v1/ask", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()["jobs"]
        answers = [over(client, one["id"])["result"] for one in sent]
        assert [one["status"] for one in answers] == ["answered", "answered", "abstained"]
        assert "left of the door" in answers[1]["text"]
        parts = client.get("/readyz").json()["parts"]
        assert parts["asker"]["ready"], parts
        assert client.delete("/v1/documents/boathouse.md").status_code == 200
        assert all(client.get(f"/v1/jobs/{one['id']}").json()["result"] is None for one in sent[:2])
    listed = json.loads(stack.ragstone("jobs", "--space", space, "--kind", "ask", "--json").stdout)["items"]
    assert {job["kind"] for job in listed} == {"ask"}


@contextmanager
def model_that_never_ends() -> Iterator[OllamaServer]:
    """Writes a word, and then nothing for minutes."""
    server = OllamaServer()
    server.script = [said("The boathouse"), 300.0]
    ready, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        async with scripted(server):
            ready.set()
            while not stop.is_set():
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        stop.set()
        thread.join(10)


@pytest.mark.slow
def test_a_question_that_is_cancelled_stops_the_model(tmp_path: Path) -> None:
    with model_that_never_ends() as model:
        settings = {
            "RAGSTONE_WRITER": "ollama",
            "OLLAMA_HOST": model.url,
            "RAGSTONE_OLLAMA_MODEL": model.models[0],
            "RAGSTONE_WRITER_SILENCE_S": "120",
        }
        with running_stack(tmp_path / "state", settings) as stack:
            assert stack.add(TEXT, "boathouse.md").state == "succeeded"
            with httpx.Client(base_url=stack.base_url, timeout=60) as client:
                id = client.post("/v1/ask", json={"question": QUESTION}, headers=LATER).json()["id"]
                until(lambda: bool(model.asked), 60, told=lambda: client.get(f"/v1/jobs/{id}").text)
                assert not model.left_at
                cancelled = time.monotonic()
                assert client.post(f"/v1/jobs/{id}/cancel").status_code == 200
                until(lambda: bool(model.left_at), STOPS_WITHIN_S)
                assert time.monotonic() - cancelled < STOPS_WITHIN_S
                assert over(client, id, STOPS_WITHIN_S)["state"] == "cancelled"
