"""A document that is deleted is gone: searched for in every file, key and route after it was used in every way."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.e2e import canaries
from tests.e2e.canaries import ACCENTED, HEADING, METADATA, NAME, OLD, SOURCE, TAG, TEXT, TITLE, TYPE
from tests.e2e.stack import SCALE, Stack, running_stack, until

ID = "office/ledger"
QUESTION = "Where does the harbour clerk keep the ledger?"
DOCUMENT = f"""# Ledger

## The place {HEADING}

The harbour clerk keeps the ledger in the cabinet called {TEXT}. Its key is marked {ACCENTED} in red paint.

The lighthouse keeper Ada Quill of {TEXT} repaired the lamp in 1987 and received a medal for it from the council.
"""
OTHERS = [
    {"id": f"boat-{n}", "title": f"Boat {n}", "text": f"Boat {n} has the call sign QX{n:05d} and a green hull."}
    for n in range(30)
]
DESCRIBED = {"id": ID, "title": TITLE, "type": TYPE, "tags": [TAG], "source": SOURCE, "metadata": {"k": [METADATA]}}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack whose every file may be read."""
    with running_stack(tmp_path_factory.mktemp("forgotten") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def client(own: Stack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=own.base_url, headers={"Ragstone-Space": "office"}, timeout=60) as one:
        yield one


def over(client: httpx.Client, job_id: str) -> dict[str, Any]:
    """The job, when it has ended."""
    last: dict[str, Any] = {}

    def ended() -> bool:
        last.update(client.get(f"/v1/jobs/{job_id}").json())
        return last["state"] not in ("queued", "running")

    until(ended, 120, told=lambda: str(last))
    return last


def send_file(client: httpx.Client, text: str) -> dict[str, Any]:
    files = [("files", (f"{NAME}.md", text.encode()))]
    sent = client.post("/v1/documents", files=files, data={"manifest": json.dumps([DESCRIBED])})
    assert sent.status_code == 202, sent.text
    job = over(client, sent.json()["jobs"][0]["id"])
    assert job["state"] == "succeeded", job
    return job


def send_batch(client: httpx.Client, *documents: dict[str, Any]) -> str:
    body = "\n".join(json.dumps(one) for one in documents).encode()
    sent = client.post("/v1/documents", content=body, headers={"Content-Type": "application/x-ndjson"})
    job_id: str = sent.json()["jobs"][0]["id"]
    return job_id


def ask(client: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/v1/ask", json={"question": QUESTION}).json()
    return answer


def questions() -> list[dict[str, Any]]:
    gold = {"document_id": ID, "quote": f"The harbour clerk keeps the ledger in the cabinet called {TEXT}."}
    return [
        {"id": "made", "text": QUESTION, "expected": f"In {TEXT}.", "facts": [[TEXT]], "gold": [gold]},
        {"id": "cited", "text": "What is the key of the ledger's cabinet marked with?"},
        {"id": "apart", "text": "Which boat has the call sign QX00007?"},
    ]


def evaluate(client: httpx.Client, **request: Any) -> str:
    started = client.post("/v1/evaluations", json={"questions": questions(), **request}).json()
    assert over(client, started["job_id"])["state"] == "succeeded"
    id: str = started["id"]
    return id


def use(client: httpx.Client) -> dict[str, list[str]]:
    """Have it repeated wherever it can be; the ids of everything that may show it."""
    over(client, send_batch(client, *OTHERS))
    first = send_file(client, DOCUMENT.replace("cabinet", f"drawer {OLD}"))["result"]["version"]
    # A batch brings it in once more, and its body is kept for a while.
    came = send_batch(client, {**DESCRIBED, "text": DOCUMENT + "From a batch."}, {"id": "bad", "text": ""})
    over(client, came)
    second = send_file(client, DOCUMENT)["result"]["version"]
    answers = [ask(client) for _ in range(3)]
    assert TEXT in answers[0]["text"], answers[0]
    for answer, verdict in zip(answers, ("good", "bad"), strict=False):
        said = client.post("/v1/feedback", json={"answer_id": answer["id"], "verdict": verdict})
        assert said.status_code == 201, said.text
    golden = {"items": [{"question": question} for question in questions()]}
    assert client.put("/v1/golden", json=golden).status_code == 200
    made = client.post("/v1/golden/make", json={"limit": 40}).json()["job_id"]
    assert over(client, made)["state"] == "succeeded"
    before = evaluate(client)
    after = evaluate(client, against=before, subject="answers")
    found = client.post("/v1/search", json={"question": QUESTION, "filters": {"tags": [TAG], "type": TYPE}}).json()
    assert found["passages"][0]["document_id"] == ID
    jobs = [job["id"] for job in client.get("/v1/jobs?limit=200").json()["items"]]
    versions = [f"{ID}/source?version={version}" for version in (first, second)]
    return {"documents": [ID, *versions, "boat-1"], "jobs": jobs, "evaluations": [before, after]}


def test_after_a_deletion_it_is_in_no_file_no_key_and_no_answer(own: Stack, client: httpx.Client) -> None:
    told = use(client)
    # So that the test can fail: it is everywhere before.
    everywhere = canaries.shown(client, told)
    assert {path.split("?")[0].split("/")[2] for path in everywhere} >= {
        "documents",
        "evaluations",
        "feedback",
        "golden",
    }
    assert canaries.in_redis(own)
    began = time.monotonic()
    receipt = client.delete(f"/v1/documents/{ID}").json()
    took = time.monotonic() - began
    assert receipt["cleanup_job"] is None, receipt
    assert (receipt["versions"], receipt["vectors"], receipt["postings"]) == (3, receipt["chunks"], receipt["chunks"])
    assert receipt["chunks"] > 0
    assert receipt["blobs"] >= 3
    assert receipt["cached_answers"] >= 3
    assert took < 8

    assert canaries.shown(client, told) == {}
    assert canaries.in_redis(own) == {}
    # Of two retrievers the one that was not told follows in a moment.
    until(lambda: canaries.in_files(own.folder.folder) == {}, 5 if SCALE else 0,
          told=lambda: str(canaries.in_files(own.folder.folder)))  # fmt: skip

    answer = ask(client)
    assert not canaries.found_in(json.dumps(answer).encode())
    for job in client.get("/v1/jobs?kind=cleanup").json()["items"]:
        assert over(client, job["id"])["state"] == "succeeded", job
    report = client.get(f"/v1/evaluations/{told['evaluations'][0]}/report?as=markdown").text
    assert report.startswith("#"), "it is made anew from what is left"
    assert "QX00007" in report
    assert canaries.shown(client, told) == {}
    assert canaries.in_files(own.folder.folder) == {}
