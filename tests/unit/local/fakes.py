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
        receipt = {"document_id": document_id, "versions": 1, "chunks": 1, "blobs": 1}
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
        body = {"id": job_id, "kind": "document", "state": state, "stage": "chunk", "done": 0, "total": None}
        body |= {"attempts": 1, "reason": reason, "warning": None, "document_id": job["id"], "result": None}
        return httpx.Response(200, json=body | {"created_at": NOW, "updated_at": NOW})
