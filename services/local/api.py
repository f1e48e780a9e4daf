"""The public API as the command line uses it; the only file of this room that knows httpx."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from services.local.credentials import Credential
from services.local.doors import step
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import (
    DeletionReceipt,
    Document,
    DocumentDescription,
    DocumentIn,
    DocumentList,
    SubmittedJob,
    SubmittedJobs,
)
from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.contracts.health import Readiness
from services.shared.contracts.jobs import (
    Job,
    JobItem,
    JobItemList,
    JobKind,
    JobList,
    JobState,
    RetriedJobs,
    RetryRequest,
)
from services.shared.contracts.search import SearchRequest, SearchResponse

PAGE = 200
BUSY_TRIES = 5
BUSY_WAIT_MAX_S = 10.0

Message = TypeVar("Message", bound=BaseModel)
_DESCRIPTIONS = TypeAdapter(list[DocumentDescription])
_KEYS_OF_OTHERS = {
    ErrorCode.KEY_REQUIRED: (
        "This gateway asks for a key: set RAGSTONE_KEY to one. Whoever runs the gateway makes it with "
        "`ragstone keys create NAME` on its machine."
    ),
    ErrorCode.KEY_INVALID: (
        "The key in RAGSTONE_KEY opens nothing at this gateway: it is unknown, revoked or has run out. Ask whoever "
        "runs the gateway for another."
    ),
}
"""What the gateway says to programs, for people at a terminal."""


class Unreachable(Exception):
    """Nothing that speaks this API answers at the address."""


@dataclass(frozen=True)
class Upload:
    """One file to send."""

    description: DocumentDescription
    filename: str
    media_type: str
    data: bytes


@dataclass(frozen=True)
class Event:
    """One server-sent event; ``data`` is decoded JSON."""

    name: str
    data: Any


class Api:
    """One gateway and one space.

    Every call raises RagstoneError with the gateway's own words when it refuses, and Unreachable when it is not there.
    """

    def __init__(
        self,
        url: str,
        space: str | None = None,
        *,
        credential: Credential | None = None,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.space = space
        self._credential = credential
        self._client = httpx.Client(
            base_url=self.url,
            timeout=httpx.Timeout(timeout_s, connect=3.0),
            transport=transport,
            trust_env=False,
            event_hooks={"request": [self._sign]},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()
        if self._credential is not None:
            self._credential.close()

    def headers(self) -> dict[str, str]:
        """What says in a request now who asks, and in which space. A key of our own may be another one later."""
        secret = None if self._credential is None else self._credential.secret()
        found = {"Ragstone-Space": self.space, "Authorization": None if secret is None else f"Bearer {secret}"}
        return {name: value for name, value in found.items() if value is not None}

    def _sign(self, request: httpx.Request) -> None:
        request.headers.update(self.headers())

    def readiness(self) -> Readiness:
        """Of every part, as the gateway sees it."""
        return self.message(Readiness, "GET", "/readyz", accept=(503,))

    def documents(self, origin: str | None = None) -> Iterator[Document]:
        """Every live document, or those of one mirrored folder."""
        cursor: str | None = None
        while True:
            found = {"limit": str(PAGE), "origin": origin, "cursor": cursor}
            params = {name: value for name, value in found.items() if value is not None}
            page = self.message(DocumentList, "GET", "/v1/documents", params=params)
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return

    def document(self, document_id: str) -> Document | None:
        """One live document, if there is one."""
        try:
            return self.message(Document, "GET", f"/v1/documents/{quote(document_id)}")
        except RagstoneError as error:
            if error.code is ErrorCode.DOCUMENT_NOT_FOUND:
                return None
            raise

    def submit_files(self, uploads: Sequence[Upload]) -> list[SubmittedJob]:
        """One job a file, in order."""
        manifest = _DESCRIPTIONS.dump_json([upload.description for upload in uploads], exclude_none=True)
        files = [("files", (upload.filename, upload.data, upload.media_type)) for upload in uploads]
        answer = self.message(SubmittedJobs, "POST", "/v1/documents", files=files, data={"manifest": manifest.decode()})
        return answer.jobs

    def submit_text(self, document: DocumentIn) -> SubmittedJob:
        """A document given as text."""
        body = document.model_dump(exclude_none=True)
        return self.message(SubmittedJobs, "POST", "/v1/documents", json=body).jobs[0]

    def submit_batch(self, lines: bytes) -> SubmittedJob:
        """Many documents, one JSON object a line; one job."""
        headers = {"Content-Type": "application/x-ndjson"}
        return self.message(SubmittedJobs, "POST", "/v1/documents", content=lines, headers=headers).jobs[0]

    def delete(self, document_id: str) -> DeletionReceipt:
        """Forget a document."""
        return self.message(DeletionReceipt, "DELETE", f"/v1/documents/{quote(document_id)}")

    def job(self, job_id: str) -> Job:
        """One job."""
        return self.message(Job, "GET", f"/v1/jobs/{step(job_id)}")

    def jobs(self, state: str | None = None, limit: int = 20, kind: str | None = None) -> JobList:
        """The newest jobs, and how many there are in each state."""
        chosen = {"limit": str(limit), "state": state, "kind": kind}
        params = {name: value for name, value in chosen.items() if value is not None}
        return self.message(JobList, "GET", "/v1/jobs", params=params)

    def cancel(self, job_id: str) -> Job:
        """Cancel a waiting job, or ask a running one to stop."""
        return self.message(Job, "POST", f"/v1/jobs/{step(job_id)}/cancel")

    def retry(self, job_id: str) -> Job:
        """Queue a failed or cancelled job again."""
        return self.message(Job, "POST", f"/v1/jobs/{step(job_id)}/retry")

    def retry_failed(self, kind: JobKind | None) -> RetriedJobs:
        """Queue all failed jobs again, or those of one kind."""
        wanted = RetryRequest(kind=kind).model_dump(exclude_none=True)
        return self.message(RetriedJobs, "POST", "/v1/jobs/retry", json=wanted)

    def failed_items(self, job_id: str) -> Iterator[JobItem]:
        """Documents of a batch that failed."""
        params = {"limit": str(PAGE)}
        while True:
            page = self.message(JobItemList, "GET", f"/v1/jobs/{step(job_id)}/items", params=params)
            yield from (item for item in page.items if item.state is JobState.FAILED)
            if page.next_cursor is None:
                return
            params["cursor"] = page.next_cursor

    def search(self, request: SearchRequest) -> SearchResponse:
        """Passages, no writing."""
        return self.message(SearchResponse, "POST", "/v1/search", json=request.model_dump(exclude_none=True))

    def ask(self, request: AskRequest, *, fresh: bool = False) -> Answer:
        """The whole answer at once; ``fresh``: made anew, whatever was answered before."""
        body = request.model_dump(exclude_none=True) | {"stream": False}
        headers = {"Cache-Control": "no-cache"} if fresh else {}
        timeout = httpx.Timeout(300.0, connect=3.0)
        return self.message(Answer, "POST", "/v1/ask", json=body, headers=headers, timeout=timeout)

    def ask_stream(self, request: AskRequest) -> Iterator[Event]:
        """The answer's events as they happen; the last is ``answer``.

        Raises: RagstoneError for an ``error`` event too.
        """
        body = request.model_dump(exclude_none=True) | {"stream": True}
        headers = {"Accept": "text/event-stream"}
        try:
            with self._client.stream("POST", "/v1/ask", json=body, headers=headers) as response:
                if response.is_error:
                    response.read()
                    raise self._refusal(response)
                for event in events(response.iter_lines()):
                    if event.name == "error":
                        raise _error_of(Problem.model_validate(event.data))
                    yield event
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def message(
        self, kind: type[Message], method: str, path: str, *, accept: tuple[int, ...] = (), **request: Any
    ) -> Message:
        """What one door answers, as a message; ``accept`` names refusals that are one too."""
        response = self._response(method, path, accept, request)
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise Unreachable(f"{self.url} is not a gateway of this version of Ragstone.") from error

    def done(self, method: str, path: str) -> None:
        """One door whose answer says nothing more."""
        self._response(method, path, (), {})

    def _response(self, method: str, path: str, accept: tuple[int, ...], request: Mapping[str, Any]) -> httpx.Response:
        for attempt in range(BUSY_TRIES):
            try:
                response = self._client.request(method, path, **request)
            except httpx.HTTPError as error:
                raise self._unreachable(error) from error
            if response.is_success or response.status_code in accept:
                break
            refusal = self._refusal(response)
            if refusal.retry_after_s is None or attempt == BUSY_TRIES - 1:
                raise refusal
            time.sleep(min(refusal.retry_after_s, BUSY_WAIT_MAX_S))
        return response

    def _refusal(self, response: httpx.Response) -> RagstoneError:
        try:
            problem = Problem.model_validate_json(response.content)
        except ValidationError as error:
            why = f"{self.url} answers {response.status_code} in a way that is not Ragstone's; is the address right?"
            raise Unreachable(why) from error
        wait = response.headers.get("Retry-After", "")
        return _error_of(problem, int(wait) if wait.isdigit() else None)

    def _unreachable(self, error: httpx.HTTPError) -> Unreachable:
        if isinstance(error, httpx.ReadTimeout):
            return Unreachable(f"{self.url} did not answer in time; `ragstone status` says how it is.")
        return Unreachable(
            f"No gateway answers at {self.url}. Start one with `ragstone up`, or name another with --url."
        )


def _error_of(problem: Problem, retry_after_s: int | None = None) -> RagstoneError:
    detail = _KEYS_OF_OTHERS.get(problem.code, problem.detail)
    return RagstoneError(problem.code, detail, retry_after_s=retry_after_s)


def events(lines: Iterator[str]) -> Iterator[Event]:
    """Server-sent events out of their lines (WHATWG HTML, section 9.2.6); comments keep the line open only."""
    name, data = "message", list[str]()
    for line in lines:
        if not line:
            if data:
                yield Event(name, json.loads("\n".join(data)))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
