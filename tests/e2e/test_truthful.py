"""What a visitor, a developer and an owner may rely on, through the running system."""

import json
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.e2e.stack import Stack, until

CASES = Path(__file__).parents[3] / "shared" / "cases" / "files"


class Visitor:
    """Plain HTTP, as an outsider would write it."""

    def __init__(self, stack: Stack, space: str) -> None:
        self.http = httpx.Client(base_url=stack.base_url, headers={"Ragstone-Space": space}, timeout=60)

    def add(self, text: str, id: str, **more: Any) -> dict[str, Any]:
        sent = self.http.post("/v1/documents", json={"id": id, "text": text, **more})
        assert sent.status_code == 202, sent.text
        return self.ended(sent.json()["jobs"][0]["id"])

    def upload(self, files: dict[str, bytes]) -> list[dict[str, Any]]:
        sent = self.http.post("/v1/documents", files=[("files", (name, data)) for name, data in files.items()])
        assert sent.status_code == 202, sent.text
        return [self.ended(job["id"]) for job in sent.json()["jobs"]]

    def ended(self, job_id: str) -> dict[str, Any]:
        until(lambda: self.job(job_id)["state"] not in ("queued", "running"), 60)
        return self.job(job_id)

    def job(self, job_id: str) -> dict[str, Any]:
        got: dict[str, Any] = self.http.get(f"/v1/jobs/{job_id}").json()
        return got

    def search(self, question: str, **more: Any) -> dict[str, Any]:
        found = self.http.post("/v1/search", json={"question": question, **more})
        assert found.status_code == 200, found.text
        got: dict[str, Any] = found.json()
        return got

    def keyword(self, question: str) -> list[str]:
        found = self.search(question, stages={"vector": False, "gate": False})
        return [passage["document_id"] for passage in found["passages"] if passage["bm25"] > 0]

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        answer = self.http.post("/v1/ask", json={"question": question, **more})
        assert answer.status_code == 200, answer.text
        got: dict[str, Any] = answer.json()
        return got

    def text(self, document_id: str) -> str:
        got = self.http.get(f"/v1/documents/{document_id}/source", params={"as": "text"})
        assert got.status_code == 200, got.text
        return got.text


@pytest.fixture
def visitor(stack: Stack, space: str) -> Visitor:
    return Visitor(stack, space)


def test_every_quotation_stands_word_for_word_in_the_source(visitor: Visitor) -> None:
    text = "# Lighthouse\n\nThe “lamp” — 1,200 W — was lit in 1911 🔦. Its keeper was Zoë Maréchal.\n"
    visitor.add(text, "lighthouse")
    answer = visitor.ask("When was the lamp of the lighthouse lit?")
    assert answer["status"] == "answered"
    assert answer["citations"]
    for citation in answer["citations"]:
        source = visitor.http.get(citation["url"].split("#")[0]).text
        assert source[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["url"].endswith(f"#{citation['start']}-{citation['end']}")


def test_a_fresh_space_says_that_it_has_nothing(visitor: Visitor) -> None:
    assert visitor.search("What is the tide table?")["passages"] == []
    answer = visitor.ask("What is the tide table?")
    assert (answer["status"], answer["citations"]) == ("abstained", [])


def test_nothing_matches_and_nothing_breaks_after_the_last_document_is_gone(visitor: Visitor) -> None:
    visitor.add("The anchor weighs 90 kilograms.", "anchor")
    assert visitor.http.delete("/v1/documents/anchor").status_code == 200
    answer = visitor.ask("How heavy is the anchor?")
    assert (answer["status"], answer["citations"]) == ("abstained", [])
    assert visitor.add("The anchor weighs 95 kilograms.", "anchor")["state"] == "succeeded"
    assert "95" in visitor.ask("How heavy is the anchor?")["text"]


def test_a_type_that_nothing_has_is_a_flagged_fallback(visitor: Visitor) -> None:
    visitor.add("The anchor weighs 90 kilograms.", "anchor", type="note")
    found = visitor.search("How heavy is the anchor?", filters={"type": "policy"})
    assert found["verdict"]["gate"] in ("fallback", "poor")
    assert found["verdict"]["gate"] == "fallback" or found["passages"] == []


def test_a_line_of_dashes_alone_is_no_searchable_document(visitor: Visitor) -> None:
    job = visitor.add("-----------", "dashes")
    assert job["state"] == "failed" or job["warning"] or visitor.search("What is here?")["passages"] is not None
    assert visitor.ask("What is here?")["status"] == "abstained"
    assert visitor.add("The mooring fee is 12 euros.", "fee")["state"] == "succeeded"


def test_an_exact_word_is_found_in_the_smallest_collections(visitor: Visitor) -> None:
    visitor.add("The kettle in the break room holds exactly 1.7 litres.", "kettle.md")
    assert visitor.keyword("kettle") == ["kettle.md"]
    visitor.add("The goods lift carries 630 kilograms at most.", "lift.md")
    assert visitor.keyword("kettle") == ["kettle.md"]
    rows = "\n".join(json.dumps({"id": f"n{n}", "text": f"Shelf {n} holds spare rope."}) for n in range(50))
    sent = visitor.http.post("/v1/documents", content=rows, headers={"Content-Type": "application/x-ndjson"})
    assert visitor.ended(sent.json()["jobs"][0]["id"])["result"]["succeeded"] == 50
    assert visitor.keyword("kettle") == ["kettle.md"]


@pytest.mark.parametrize("question", ["turmeric", "TURMERIC", "q7", "ledger", "Brannigan?", "brannigan"])
def test_punctuation_and_case_hide_no_word(visitor: Visitor, question: str) -> None:
    note = "Please ask for “Turmeric”. (Storage: shelf Q7; see LEDGER.)\n\nThe supplier is Brannigan.\n"
    visitor.add(note, "note")
    assert "note" in visitor.keyword(question)


def test_a_windows_code_page_keeps_its_letters_and_harms_no_neighbour(visitor: Visitor) -> None:
    menu = "Canteen notice – autumn term\n\nThe café ‘Le Chêne’ charges €4.50 for the daily soup.\n"
    jobs = visitor.upload(
        {"menu.txt": menu.encode("cp1252"), "dock.txt": b"The loading dock opens at 05:45 on weekdays."}
    )
    assert [job["state"] for job in jobs] == ["succeeded", "succeeded"]
    stored = visitor.text("menu.txt")
    assert "€4.50" in stored
    assert "Le Chêne" in stored
    assert "�" not in stored
    assert "05:45" in visitor.ask("When does the loading dock open?")["text"]
    assert "4.50" in visitor.ask("What does the daily soup cost?")["text"]


def test_short_utf8_is_read_as_utf8(visitor: Visitor) -> None:
    visitor.upload({"a.txt": "Señal nº 7\n".encode(), "b.txt": "café\n".encode()})
    assert visitor.text("a.txt") == "Señal nº 7\n"
    assert visitor.text("b.txt") == "café\n"


def test_a_file_without_words_is_never_ready(visitor: Visitor) -> None:
    (job,) = visitor.upload({"empty-ish.txt": b" \n\t \n"})
    assert job["state"] == "failed"
    assert "empty-ish.txt" in job["reason"]
    assert visitor.http.get("/v1/documents").json()["items"] == []


def test_after_a_replacement_only_the_new_version_exists(visitor: Visitor) -> None:
    long = "\n\n".join(f"## Part {n}\n\n" + f"Part {n} speaks of lanterns and rope. " * 20 for n in range(6))
    visitor.add(long + "\n\nThe code word is marigold.\n", "guide")
    assert "marigold" in visitor.ask("What is the code word?")["text"]
    visitor.add("# Guide\n\nThe guide was withdrawn.\n", "guide")
    assert visitor.keyword("marigold") == []
    assert all("marigold" not in p["text"] for p in visitor.search("What is the code word marigold?")["passages"])
    assert visitor.http.get("/v1/documents/guide").json()["chunks"] == 1
    visitor.http.delete("/v1/documents/guide")
    assert visitor.search("guide withdrawn")["passages"] == []
    assert visitor.http.get("/v1/documents/guide").status_code == 404


def test_a_succeeded_job_is_visible_at_once_and_the_old_text_is_gone(visitor: Visitor) -> None:
    for n in range(8):
        visitor.add(f"The harbour master's door code is {4000 + n}.", "door")
        said = visitor.ask("What is the door code of the harbour master?")["text"]
        assert str(4000 + n) in said
        assert str(4000 + n - 1) not in said


def test_a_document_that_is_replaced_all_the_while_answers_all_the_while(visitor: Visitor, stack: Stack) -> None:
    def version(n: int) -> str:
        return f"The lighthouse keeper of Zanvoort is called Theodora Blom. This is notice number {n}."

    visitor.add(version(0), "keeper")
    asked_enough = threading.Event()
    statuses: list[str] = []

    def keep_asking() -> None:
        other = Visitor(stack, visitor.http.headers["Ragstone-Space"])
        try:
            for _ in range(10):
                answer = other.ask("What is the lighthouse keeper of Zanvoort called?")
                statuses.append(answer["status"] if "Theodora" in answer["text"] else f"said {answer['text']}")
        finally:
            asked_enough.set()

    asking = threading.Thread(target=keep_asking)
    asking.start()
    replaced = 0
    while not asked_enough.is_set() or replaced < 3:
        replaced += 1
        visitor.add(version(replaced), "keeper")
    asking.join()
    assert statuses == ["answered"] * 10


@pytest.mark.parametrize(
    "question", ["how do I bake carrot cake?", "who won the 1998 world cup?", "What is rule 500 of the boat shed?"]
)
def test_what_the_documents_do_not_hold_is_not_answered(visitor: Visitor, question: str) -> None:
    rules = "\n\n".join(
        f"Rule {n} of the boat shed: oar rack {n} is checked on day {n} of the month." for n in range(1, 41)
    )
    visitor.add(f"# Boat shed\n\n{rules}\n", "shed")
    answer = visitor.ask(question)
    assert answer["status"] == "abstained"
    assert answer["citations"] == []
    assert "Rule" not in answer["text"]


def test_the_same_bytes_again_are_no_work_and_say_so(visitor: Visitor) -> None:
    first = visitor.http.post("/v1/documents", json={"id": "oar", "text": "The oar is made of ash."}).json()["jobs"][0]
    visitor.ended(first["id"])
    again = visitor.http.post("/v1/documents", json={"id": "oar", "text": "The oar is made of ash."}).json()["jobs"][0]
    assert (again["state"], again["unchanged"]) == ("succeeded", True)
    assert visitor.job(again["id"])["result"]["unchanged"] is True


@pytest.mark.skipif(not CASES.is_dir(), reason="the folder of case files is not beside this checkout")
def test_a_file_name_never_becomes_a_path(visitor: Visitor, stack: Stack) -> None:
    root = stack.folder.folder.parent
    marker = root / "outside.txt"
    marker.write_text("do not touch")
    before = set(root.rglob("outside*"))
    for n, line in enumerate((CASES / "h42_upload_names.txt").read_text(encoding="utf-8").splitlines()):
        name = line.replace("\\x00", "\x00")
        sent = visitor.http.post("/v1/documents", files=[("files", (name, f"Upload number {n}.".encode()))])
        assert sent.status_code < 500, (name, sent.text)
        gone = visitor.http.delete("/v1/documents/" + quote(name.replace("\x00", "\\x00"), safe=""))
        assert gone.status_code < 500, (name, gone.text)
    assert set(root.rglob("outside*")) == before
    assert marker.read_text() == "do not touch"
    (job,) = visitor.upload({"résumé (final) 第二版.txt": b"The last page is blue."})
    assert job["state"] == "succeeded"
    listed = [item["id"] for item in visitor.http.get("/v1/documents").json()["items"]]
    assert "résumé (final) 第二版.txt" in listed
    assert not any("/" in name for name in listed)


def test_an_unknown_job_is_not_found_and_never_pending(visitor: Visitor) -> None:
    got = visitor.http.get("/v1/jobs/5f0c8f1e-0000-4000-8000-000000000000")
    assert (got.status_code, got.json()["code"]) == (404, "job_not_found")


def test_another_space_sees_nothing(visitor: Visitor, stack: Stack) -> None:
    job = visitor.add("The secret word is heliotrope.", "secret")
    stranger = Visitor(stack, "t-a-stranger")
    assert stranger.http.get("/v1/documents/secret").status_code == 404
    assert stranger.http.get(f"/v1/jobs/{job['id']}").status_code == 404
    assert stranger.search("What is the secret word?")["passages"] == []
    assert "heliotrope" not in stranger.ask("What is the secret word?")["text"]


def test_a_stream_tells_its_stages_and_ends_with_the_whole_answer(visitor: Visitor) -> None:
    visitor.add("The ferry to Inis Mór leaves at 10:30 from pier 4.", "ferry")
    events: list[str] = []
    last = ""
    with visitor.http.stream("POST", "/v1/ask", json={"question": "When does the ferry leave?", "stream": True}) as got:
        assert got.headers["content-type"].startswith("text/event-stream")
        for line in got.iter_lines():
            if line.startswith("event:"):
                events.append(line.removeprefix("event:").strip())
            elif line.startswith("data:"):
                last = line.removeprefix("data:").strip()
    assert events[-1] == "answer"
    assert {"stage", "sources", "sentence"} <= set(events)
    answer = json.loads(last)
    assert answer["status"] == "answered"
    assert "10:30" in answer["text"]


def test_health_answers_while_a_thousand_chunks_are_embedded(visitor: Visitor) -> None:
    rows = "\n".join(
        json.dumps({"id": f"d{n}", "text": f"Day {n}. " + "The crew painted the hull again. " * 40}) for n in range(150)
    )
    sent = visitor.http.post("/v1/documents", content=rows, headers={"Content-Type": "application/x-ndjson"})
    job_id = sent.json()["jobs"][0]["id"]
    slowest = 0.0
    while visitor.job(job_id)["state"] in ("queued", "running"):
        began = time.perf_counter()
        assert visitor.http.get("/healthz").status_code == 200
        slowest = max(slowest, time.perf_counter() - began)
        time.sleep(0.1)
    assert slowest < 1.0
    assert visitor.job(job_id)["state"] == "succeeded"
