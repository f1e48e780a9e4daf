"""A gateway in memory that answers the part of the public API that the command line uses."""

import email
import email.policy
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx

NOW = "2026-01-01T00:00:00Z"


def problem(status: int, code: str, detail: str) -> httpx.Response:
    """A refusal."""
    body = {"type": "urn:x", "title": code, "status": status, "detail": detail, "code": code, "request_id": "r"}
    return httpx.Response(status, json=body, headers={"Retry-After": "0"} if status == 503 else {})


@dataclass
class FakeGateway:
    """Jobs succeed at the second look; a file that holds ``bad`` fails; an empty one refuses the whole upload."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    sent: list[list[str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    busy: int = 0

    def transport(self) -> httpx.MockTransport:
        """For Api."""
        return httpx.MockTransport(self._answer)

    def hold(self, document_id: str, data: bytes, origin: str | None) -> None:
        """A live document."""
        self.documents[document_id] = {
            "id": document_id,
            "version": "v",
            "title": document_id,
            "type": None,
            "tags": [],
            "source": None,
            "origin": origin,
            "filename": None,
            "media_type": "text/plain",
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "chunks": 1,
            "metadata": {},
            "created_at": NOW,
            "warning": None,
            "updated_at": NOW,
        }

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.path)
        if self.busy:
            self.busy -= 1
            return problem(503, "busy", "Busy.")
        if path == "/v1/documents" and request.method == "POST":
            return self._submit(request)
        if path == "/v1/documents":
            return self._list(request.url.params)
        if path.startswith("/v1/documents/"):
            return self._one(request.method, path.removeprefix("/v1/documents/"))
        if path.startswith("/v1/jobs/"):
            return self._job(path.removeprefix("/v1/jobs/"))
        return problem(404, "route_not_found", path)

    def _list(self, params: httpx.QueryParams) -> httpx.Response:
        """Two a page, so that cursors are used."""
        origin, after = params.get("origin"), params.get("cursor", "")
        found = [
            document
            for document_id, document in sorted(self.documents.items())
            if document_id > after and (origin is None or document["origin"] == origin)
        ]
        cursor = found[1]["id"] if len(found) > 2 else None
        return httpx.Response(200, json={"items": found[:2], "next_cursor": cursor})

    def _one(self, method: str, document_id: str) -> httpx.Response:
        document = self.documents.get(document_id)
        if document is None:
            return problem(404, "document_not_found", document_id)
        if method == "GET":
            return httpx.Response(200, json=document)
        del self.documents[document_id]
        self.deleted.append(document_id)
        receipt = {
            "document_id": document_id,
            "versions": 1,
            "chunks": 1,
            "vectors": 1,
            "postings": 1,
            "blobs": 1,
            "cached_answers": 0,
        }
        return httpx.Response(200, json=receipt | {"cancelled_jobs": [], "cleanup_job": None})

    def _submit(self, request: httpx.Request) -> httpx.Response:
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + request.read(), policy=email.policy.HTTP)
        parts = {"files": list[bytes](), "manifest": list[bytes]()}
        for part in form.iter_parts():
            data = part.get_payload(decode=True)
            assert isinstance(data, bytes)
            parts[str(part.get_param("name", header="content-disposition"))].append(data)
        manifest = json.loads(parts["manifest"][0])
        if not all(parts["files"]):
            return problem(422, "document_empty", "It is empty.")
        self.sent.append([described["id"] for described in manifest])
        jobs = []
        for described, data in zip(manifest, parts["files"], strict=True):
            job_id = f"j{len(self.jobs)}"
            self.jobs[job_id] = {"looks": 0, "id": described["id"], "data": data, "origin": described.get("origin")}
            jobs.append({"id": job_id, "document_id": described["id"], "state": "queued", "unchanged": False})
        return httpx.Response(202, json={"jobs": jobs})

    def _job(self, job_id: str) -> httpx.Response:
        job = self.jobs[job_id]
        job["looks"] += 1
        state, reason = "running", None
        if job["looks"] > 1:
            state, reason = ("failed", "It is bad.") if b"bad" in job["data"] else ("succeeded", None)
        if state == "succeeded":
            self.hold(job["id"], job["data"], job["origin"])
        warning = "It looks odd." if b"odd" in job["data"] else None
        body = {"id": job_id, "kind": "document", "state": state, "stage": "chunk", "done": 0, "total": None}
        body |= {"attempts": 1, "reason": reason, "warning": warning, "document_id": job["id"], "result": None}
        return httpx.Response(200, json=body | {"created_at": NOW, "updated_at": NOW})


def an_evaluation(evaluation_id: str = "e1", score: float = 0.8, questions: int = 2, **more: Any) -> dict[str, Any]:
    """A finished evaluation, as the gateway answers it."""
    estimate = {"mean": score, "low": score - 0.1, "high": score + 0.1, "n": 2}
    values = {"right": estimate, "ndcg@10": estimate}
    asked = [{"id": f"q{n}", "text": f"Question {n}?"} for n in range(1, questions + 1)]
    outcomes = [{"question_id": one["id"], "values": {"right": score, "ndcg@10": score}} for one in asked]
    body = {"id": evaluation_id, "space": "main", "name": "golden", "subject": "all", "created_at": NOW, "seed": 0}
    body |= {"fingerprint": "f" * 16, "questions": asked, "system": {}, "outcomes": outcomes}
    body |= {"summary": {"name": "all", "n": 2, "values": values}}
    return body | {"by_kind": [{"name": "question", "n": 2, "values": values}]} | more


def a_comparison(*, vetoed: bool) -> dict[str, Any]:
    """Of a run that lost much, or nothing."""
    difference = {"mean": -0.3, "low": -0.4, "high": -0.2 if vetoed else 0.2, "n": 2}
    change = {"metric": "ndcg@10", "before": 0.8, "after": 0.5, "difference": difference}
    other = {"question_id": "q1", "text": "Question 1?", "better": False, "metrics": {"ndcg@10": [0.8, 0.5]}}
    body = {"before_id": "e0", "after_id": "e1", "paired": 2, "only_before": 0, "only_after": 0, "level": 0.99}
    body |= {"questions": [other | {"before": None, "after": None}]}
    return body | {"changes": [change | {"worse": vetoed, "better": False}], "vetoed": vetoed}


def a_golden_question(golden_id: str, state: str = "proposed", flagged: str | None = None) -> dict[str, Any]:
    """As the gateway answers it."""
    gold = [{"document_id": "faq.md", "quote": "One month."}]
    question = {"id": golden_id, "text": f"What is {golden_id}?", "expected": "One month.", "gold": gold}
    question |= {"facts": [["one month", "a month"]]}
    return {"question": question, "state": state, "origin": "rule", "flagged": flagged, "updated_at": NOW}


@dataclass
class FakeMeasuring(FakeGateway):
    """Also takes batches and measures; background work ends at the second look, unless it is ``stuck``.

    ``failing`` is the reason why it fails.
    """

    evaluation: dict[str, Any] = field(default_factory=an_evaluation)
    golden: list[dict[str, Any]] = field(default_factory=list)
    calibration: dict[str, Any] | None = None
    """What is in force when a calibration has ended; without one, the content was too little."""
    asked: list[tuple[str, str, str | None, Any]] = field(default_factory=list)
    """Method, path, space and body of every request that is not about documents or jobs."""
    spaces: set[str | None] = field(default_factory=set)
    cancelled: list[str] = field(default_factory=list)
    stuck: bool = False
    failing: str | None = None
    away: int = 0
    """So many of the next looks at a job find nobody, from the second look at one on."""
    retried: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    """Of the one feedback, instead of the usual words."""

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path, method = unquote(request.url.path), request.method
        self.spaces.add(request.headers.get("Ragstone-Space"))
        if path == "/v1/documents" and request.headers.get("Content-Type") == "application/x-ndjson":
            return self._batch(request.read())
        if path.startswith("/v1/jobs/") and path.rsplit("/")[-1] in ("cancel", "items", "retry"):
            return self._of_job(*path.removeprefix("/v1/jobs/").split("/"))
        if path.startswith(("/v1/documents", "/v1/jobs")):
            return super()._answer(request)
        body = json.loads(request.read() or b"null")
        self.asked.append((method, str(request.url.raw_path, "ascii"), request.headers.get("Ragstone-Space"), body))
        return self._measured(method, path, request.url.params, body)

    def _measured(self, method: str, path: str, params: httpx.QueryParams, body: Any) -> httpx.Response:
        if (method, path) == ("POST", "/v1/evaluations"):
            if body.get("questions") is None and not self.golden:
                return problem(422, "golden_set_empty", "The golden set of this space has no question to ask.")
            asked = len(body.get("questions") or self.golden)
            started = {"id": self.evaluation["id"], "job_id": self._begun("evaluation"), "questions": asked}
            return httpx.Response(202, json=started)
        if path == f"/v1/evaluations/{self.evaluation['id']}":
            return httpx.Response(200, json=self.evaluation)
        if (method, path) == ("POST", "/v1/golden/make"):
            return httpx.Response(202, json={"job_id": self._begun("golden")})
        if (method, path) == ("PUT", "/v1/golden"):
            counts = {"added": len(body["items"]), "replaced": 0, "unchanged": 0, "flagged": 1}
            return httpx.Response(200, json=counts)
        if path == "/v1/golden":
            return self._golden_page(params)
        if path.startswith("/v1/golden/") and method == "DELETE":
            return httpx.Response(204)
        if path == "/v1/calibrations":
            return self._calibrations(method)
        if path == "/v1/feedback/f1/correction":
            return httpx.Response(200, json=a_golden_question("feedback-f1", "approved"))
        if path in ("/v1/feedback", "/v1/feedback/f1/dismiss"):
            said: dict[str, Any] = {
                "id": "f1",
                "answer_id": "a1",
                "question": "Why?",
                "answer_text": "So.",
                "answer_status": "answered",
            }
            said |= {"verdict": "bad", "comment": "No.", "state": "open", "golden_id": None, "created_at": NOW}
            said |= self.said
            return httpx.Response(200, json={"items": [said], "next_cursor": None} if method == "GET" else said)
        return problem(404, "route_not_found", path)

    def _calibrations(self, method: str) -> httpx.Response:
        if method == "POST":
            return httpx.Response(202, json={"job_id": self._begun("calibration")})
        if method == "DELETE":
            return httpx.Response(204)
        return httpx.Response(200, json={"calibration": self.calibration, "stale": None})

    def _golden_page(self, params: httpx.QueryParams) -> httpx.Response:
        """Two a page, so that cursors are used."""
        state, after = params.get("state"), int(params.get("cursor", 0))
        found = [item for item in self.golden if state in (None, item["state"])]
        cursor = str(after + 2) if len(found) > after + 2 else None
        return httpx.Response(200, json={"items": found[after : after + 2], "next_cursor": cursor, "counts": {}})

    def _begun(self, kind: str) -> str:
        job_id = f"j{len(self.jobs)}"
        self.jobs[job_id] = {"looks": -1_000_000 if self.stuck else 0, "id": None, "data": b"", "kind": kind}
        return job_id

    def _batch(self, body: bytes) -> httpx.Response:
        job_id = self._begun("batch")
        self.jobs[job_id]["lines"] = [json.loads(line) for line in body.splitlines()]
        job = {"id": job_id, "document_id": None, "state": "queued", "unchanged": False}
        return httpx.Response(202, json={"jobs": [job]})

    def _of_job(self, job_id: str, what: str) -> httpx.Response:
        if what in ("cancel", "retry"):
            (self.cancelled if what == "cancel" else self.retried).append(job_id)
            return self._job(job_id)
        items = [
            {"n": n, "document_id": line["id"], "unchanged": False}
            | (
                {"state": "failed", "reason": "It is bad."}
                if "bad" in line["text"]
                else {"state": "succeeded", "reason": None}
            )
            for n, line in enumerate(self.jobs[job_id]["lines"], start=1)
        ]
        return httpx.Response(200, json={"items": items, "next_cursor": None, "counts": {}})

    def _job(self, job_id: str) -> httpx.Response:
        job = self.jobs[job_id]
        if self.away and job["looks"]:
            self.away -= 1
            raise httpx.ConnectError("away")
        if "kind" not in job:
            return super()._job(job_id)
        job["looks"] += 1
        ended = job["looks"] > 1
        for line in job.get("lines", []) if ended else []:
            self.hold(line["id"], line["text"].encode(), None)
        state = "running" if not ended else "failed" if self.failing else "succeeded"
        body = {"id": job_id, "kind": job["kind"], "state": state, "stage": "ask", "done": 1, "total": 2}
        body |= {"attempts": 1, "reason": self.failing, "warning": None, "document_id": None}
        fitted = {"calibrated": self.calibration is not None, "why": "The content gives 3 questions."}
        result = fitted if job["kind"] == "calibration" and ended else None
        return httpx.Response(200, json=body | {"result": result, "created_at": NOW, "updated_at": NOW})
