"""The gateway's HTTP manners: problems, spaces, OpenAPI, health, and the shapes that clients rely on."""

from typing import Any

import httpx
import pytest

from services.shared.contracts.answers import Answer
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobState
from services.shared.contracts.search import Passage, Verdict
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, found, job, passage, sentence

ROUTES = {
    ("post", "/v1/ask"),
    *(("post", path) for path in ("/v1/search", "/v1/warmup")),
    *(("post", "/v1/chat/completions"), ("get", "/v1/models"), ("get", "/v1/models/{id}")),
    *((verb, "/v1/documents") for verb in ("get", "post")),
    *((verb, "/v1/documents/{id}") for verb in ("get", "delete")),
    ("get", "/v1/documents/{id}/source"),
    *(("get", f"/v1/jobs{what}") for what in ("", "/{id}", "/{id}/items", "/{id}/events")),
    *(("post", f"/v1/jobs/{what}") for what in ("{id}/cancel", "{id}/retry", "retry")),
    *((verb, "/v1/evaluations") for verb in ("get", "post")),
    *(("get", f"/v1/evaluations/{what}") for what in ("{id}", "{id}/report")),
    ("get", "/v1/golden"),
    ("put", "/v1/golden"),
    *(("post", "/v1/golden/make"), ("delete", "/v1/golden/{id}")),
    *((verb, "/v1/feedback") for verb in ("get", "post")),
    *(("post", f"/v1/feedback/{{id}}/{what}") for what in ("correction", "dismiss")),
    ("get", "/v1/gaps"),
    *(("post", f"/v1/gaps/{{id}}/{what}") for what in ("fact", "dismiss", "reopen")),
    *((verb, "/v1/calibrations") for verb in ("delete", "get", "post")),
    *((verb, "/v1/indexes") for verb in ("get", "post")),
    *((verb, "/v1/indexes/{id}") for verb in ("get", "delete")),
    *(("post", f"/v1/indexes/{what}") for what in ("{id}/promote", "rollback")),
    *((verb, "/v1/keys") for verb in ("get", "post")),
    *(("delete", "/v1/keys/{id}"), ("get", "/v1/me")),
    *(("get", path) for path in ("/healthz", "/readyz", "/metrics")),
}


def assert_problem(response: httpx.Response, status: int, code: ErrorCode) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert set(problem) == {"type", "title", "status", "detail", "code", "request_id"}
    assert problem["code"] == code
    assert problem["status"] == status
    assert problem["detail"]
    assert problem["request_id"] == response.headers["X-Request-ID"]
    return problem


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "code"),
    [
        ("GET", "/v1/nothing", {}, 404, ErrorCode.ROUTE_NOT_FOUND),
        ("GET", "/assets/../settings.py", {}, 404, ErrorCode.ROUTE_NOT_FOUND),
        ("GET", "/assets/index.html", {}, 404, ErrorCode.ROUTE_NOT_FOUND),
        ("PUT", "/v1/ask", {}, 405, ErrorCode.METHOD_NOT_ALLOWED),
        ("POST", "/v1/ask", {"json": {"question": "a", "wuestion": "b"}}, 422, ErrorCode.INVALID_REQUEST),
        ("POST", "/v1/ask", {"json": {}}, 422, ErrorCode.INVALID_REQUEST),
        ("POST", "/v1/ask", {"json": {"question": " \n "}}, 422, ErrorCode.QUESTION_EMPTY),
        ("POST", "/v1/ask", {"json": {"question": " ", "stream": True}}, 422, ErrorCode.QUESTION_EMPTY),
        ("POST", "/v1/ask", {"json": {"question": "x" * 2001}}, 422, ErrorCode.QUESTION_TOO_LONG),
        ("POST", "/v1/search", {"json": {"question": "a", "top_k": 101}}, 422, ErrorCode.INVALID_REQUEST),
        ("POST", "/v1/ask", {"content": b"x" * 1_000_001}, 413, ErrorCode.BODY_TOO_LARGE),
        ("POST", "/v1/documents", {"content": b"x"}, 415, ErrorCode.UNSUPPORTED_MEDIA_TYPE),
        ("GET", "/v1/documents/none", {}, 404, ErrorCode.DOCUMENT_NOT_FOUND),
        ("GET", "/v1/documents/none/source", {}, 404, ErrorCode.DOCUMENT_NOT_FOUND),
        ("GET", "/v1/documents/none/source?as=html", {}, 422, ErrorCode.INVALID_REQUEST),
        ("GET", "/v1/documents?limit=0", {}, 422, ErrorCode.INVALID_REQUEST),
        ("GET", "/v1/jobs/none", {}, 404, ErrorCode.JOB_NOT_FOUND),
        ("GET", "/v1/jobs/none/items", {}, 404, ErrorCode.JOB_NOT_FOUND),
        ("GET", "/v1/jobs/none/events", {}, 404, ErrorCode.JOB_NOT_FOUND),
        ("POST", "/v1/jobs/none/cancel", {}, 404, ErrorCode.JOB_NOT_FOUND),
        ("POST", "/v1/jobs/none/retry", {}, 404, ErrorCode.JOB_NOT_FOUND),
        ("GET", "/v1/jobs?state=lost", {}, 422, ErrorCode.INVALID_REQUEST),
        ("GET", "/v1/jobs?kind=lost", {}, 422, ErrorCode.INVALID_REQUEST),
        ("POST", "/v1/jobs/retry", {"json": {"kind": "lost"}}, 422, ErrorCode.INVALID_REQUEST),
        ("POST", "/v1/jobs/retry", {"json": {"state": "failed"}}, 422, ErrorCode.INVALID_REQUEST),
    ],
)
async def test_every_error_is_a_problem_document(
    method: str, path: str, sent: dict[str, Any], status: int, code: ErrorCode
) -> None:
    async with World().client() as client:
        assert_problem(await client.request(method, path, **sent), status, code)


async def test_bad_json_and_unknown_fields_are_named() -> None:
    async with World().client() as client:
        broken = await client.post("/v1/ask", content=b'{"question": ', headers={"Content-Type": "application/json"})
        assert "not JSON (near character 14)" in assert_problem(broken, 422, ErrorCode.INVALID_REQUEST)["detail"]
        unknown = await client.post("/v1/ask", json={"question": "a", "colour": 1})
        assert "colour" in assert_problem(unknown, 422, ErrorCode.INVALID_REQUEST)["detail"]


NESTED = b'{"question": "a", "filters": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("content", "path", "content_type"),
    [
        (b'{"question": "\xff"}', "/v1/ask", "application/json"),
        (NESTED, "/v1/ask", "application/json"),
        (b"x", "/v1/documents", "multipart/form-data"),
    ],
)
async def test_a_body_that_cannot_be_read_has_one_status(content: bytes, path: str, content_type: str) -> None:
    async with World().client() as client:
        response = await client.post(path, content=content, headers={"Content-Type": content_type})
    assert_problem(response, 400, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/search"])
async def test_json_that_is_not_called_json_is_told_so(path: str) -> None:
    body = b'{"question": "a"}'
    async with World().client() as client:
        bare = await client.post(path, content=body)
        called_text = await client.post(path, content=body, headers={"Content-Type": "text/plain"})
        nothing = await client.post(path)
        wrong = await client.post(path, json=["a"])
    told = assert_problem(bare, 422, ErrorCode.INVALID_REQUEST)["detail"]
    assert "Content-Type: application/json is missing" in told
    assert "text/plain" in assert_problem(called_text, 422, ErrorCode.INVALID_REQUEST)["detail"]
    for other in (nothing, wrong):
        assert "Content-Type" not in assert_problem(other, 422, ErrorCode.INVALID_REQUEST)["detail"]


async def test_a_type_filter_that_was_left_out_is_said() -> None:
    world = World()
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done()])
    world.retriever.response = found(one, gate="fallback")
    async with world.client() as client:
        asked = {"question": "When?", "filters": {"type": "faq"}}
        answer = (await client.post("/v1/ask", json=asked)).json()
        search = (await client.post("/v1/search", json=asked)).json()
        world.retriever.response = found(one)
        plain = (await client.post("/v1/search", json=asked)).json()
    assert (answer["status"], answer["degraded"]) == ("answered", ["type_filter_dropped"])
    assert search["degraded"] == ["type_filter_dropped"]
    assert plain["degraded"] == []


async def test_a_body_is_cut_off_while_it_is_read() -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 50_000_000:
            sent += 100_000
            yield b"x" * 100_000

    async with World().client() as client:
        response = await client.post("/v1/ask", content=endless(), headers={"Content-Type": "application/json"})
    assert_problem(response, 413, ErrorCode.BODY_TOO_LARGE)
    assert sent < 2_000_000


async def test_a_retriever_that_is_down_is_a_503_and_an_error_event() -> None:
    world = World()
    world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "It is down; start it.", retry_after_s=5)
    async with world.client() as client:
        plain = await client.post("/v1/ask", json={"question": "a"})
        assert_problem(plain, 503, ErrorCode.RETRIEVER_UNAVAILABLE)
        assert plain.headers["Retry-After"] == "5"
        search = await client.post("/v1/search", json={"question": "a"})
        assert_problem(search, 503, ErrorCode.RETRIEVER_UNAVAILABLE)


async def test_a_surprise_is_a_500_problem_that_tells_no_secrets() -> None:
    world = World()
    world.retriever.error = ValueError("secret")  # type: ignore[assignment]
    async with world.client() as client:
        response = await client.post("/v1/ask", json={"question": "a"})
    assert "secret" not in assert_problem(response, 500, ErrorCode.INTERNAL)["detail"]


async def test_the_callers_request_id_is_kept_and_is_the_trace() -> None:
    async with World().client() as client:
        response = await client.post("/v1/ask", json={"question": "a"}, headers={"X-Request-ID": "mine-7"})
    assert response.headers["X-Request-ID"] == "mine-7"
    assert response.json()["trace_id"] == "mine-7"


async def test_asking_and_searching_an_empty_space_finds_nothing_and_fails_nothing() -> None:
    async with World().client() as client:
        answer = (await client.post("/v1/ask", json={"question": "soup?"})).json()
        search = await client.post("/v1/search", json={"question": "soup?", "filters": {"type": "none"}})
    assert (answer["status"], answer["reason"], answer["citations"]) == ("abstained", "nothing_relevant", [])
    assert search.status_code == 200
    assert search.json()["passages"] == []


async def test_search_drops_what_the_catalog_does_not_confirm() -> None:
    world = World()
    gone = passage().model_copy(update={"document_id": "gone.md"})
    moved = passage().model_copy(update={"start": 1, "end": 40})
    world.retriever.response = found(gone, passage(), moved)
    async with world.client() as client:
        body = (await client.post("/v1/search", json={"question": "open?", "top_k": 7})).json()
    assert [one["document_id"] for one in body["passages"]] == ["shed.md"]
    assert world.retriever.calls[0].top_k == 7


async def test_the_space_header_names_the_space() -> None:
    world = World()
    async with world.client() as client:
        await client.post("/v1/search", json={"question": "a"})
        await client.post("/v1/search", json={"question": "a"}, headers={"Ragstone-Space": "team-2"})
        bad = await client.post("/v1/search", json={"question": "a"}, headers={"Ragstone-Space": "Team 2"})
    assert [call.space for call in world.retriever.calls] == ["main", "team-2"]
    assert_problem(bad, 422, ErrorCode.SPACE_INVALID)


async def test_another_spaces_documents_and_jobs_are_unknown() -> None:
    world = World()
    world.documents.hold("mine.md", space="other")
    world.jobs.jobs[(SpaceId("other"), JobId("j1"))] = [job("j1", JobState.SUCCEEDED)]
    async with world.client() as client:
        for path in ("/v1/documents/mine.md", "/v1/documents/mine.md/source"):
            assert_problem(await client.get(path), 404, ErrorCode.DOCUMENT_NOT_FOUND)
        assert_problem(await client.delete("/v1/documents/mine.md"), 404, ErrorCode.DOCUMENT_NOT_FOUND)
        for path in ("/v1/jobs/j1", "/v1/jobs/j1/items", "/v1/jobs/j1/events"):
            assert_problem(await client.get(path), 404, ErrorCode.JOB_NOT_FOUND)
        assert (await client.get("/v1/documents")).json()["items"] == []
        assert (await client.get("/v1/jobs")).json()["items"] == []
        theirs = await client.get("/v1/documents/mine.md", headers={"Ragstone-Space": "other"})
    assert theirs.status_code == 200
    assert (SpaceId("other"), DocumentId("mine.md")) in world.documents.stored


async def test_openapi_lists_every_route_and_the_problem_shape() -> None:
    async with World().client() as client:
        schema = (await client.get("/openapi.json")).json()
    listed = {(method, path) for path, methods in schema["paths"].items() for method in methods}
    assert listed == ROUTES
    body = schema["paths"]["/v1/documents"]["post"]["requestBody"]["content"]
    assert set(body) == {"multipart/form-data", "application/json", "application/x-ndjson"}
    assert "Problem" in schema["components"]["schemas"]
    assert "HTTPValidationError" not in schema["components"]["schemas"]


@pytest.mark.parametrize(
    ("down", "status"),
    [
        ({}, 200),
        ({"redis": "start it", "worker": "none", "reconciler": "none"}, 200),
        ({"catalog": "x"}, 503),
        ({"retriever": "x"}, 503),
        ({"generator": "x"}, 503),
    ],
)
async def test_readiness_names_every_part_and_needs_only_those_that_answer(down: dict[str, str], status: int) -> None:
    world = World()
    world.parts.down = down
    async with world.client() as client:
        response = await client.get("/readyz")
        alive = await client.get("/healthz")
    assert response.status_code == status
    parts = response.json()["parts"]
    assert set(parts) == {"catalog", "redis", "retriever", "generator", "worker", "reconciler", "asker"}
    assert {name for name, part in parts.items() if not part["ready"]} == set(down)
    assert alive.json()["status"] == "ok"


def test_the_shapes_that_clients_rely_on() -> None:
    assert set(Answer.model_fields) - {"rewritten", "cached", "usage"} == {
        *("id", "status", "text", "reason", "confidence", "citations", "claims", "sub_questions", "passages_used"),
        *("degraded", "model", "index", "timings_ms", "trace_id", "trace"),
    }
    assert set(Passage.model_fields) - {"lead", "kind", "also_in", "places"} == {
        *("chunk_id", "document_id", "version", "title", "section", "type", "text", "start", "end", "source", "tags"),
        *("score", "distance", "bm25", "critic", "ranks"),
    }
    assert set(Verdict.model_fields) - {"threshold"} == {"answerable", "gate", "reason"}
    assert set(Job.model_fields) == {
        *("id", "kind", "state", "stage", "done", "total", "attempts", "reason", "warning", "document_id", "result"),
        *("created_at", "updated_at"),
    }


async def test_an_answer_on_the_wire_has_every_field_of_the_public_shape() -> None:
    world = World()
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done()])
    async with world.client() as client:
        answer = (await client.post("/v1/ask", json={"question": "a"})).json()
    assert set(answer) == set(Answer.model_fields)
    assert set(answer["citations"][0]) == {
        *("n", "document_id", "version", "title", "source", "section", "type", "chunk_id", "start", "end", "quote"),
        *("url", "place"),
    }
    assert set(answer["claims"][0]) == {"text", "supported", "score", "citations"}
    assert set(answer["model"]) == {"writer", "name"}
    assert set(answer["index"]) == {"id", "embedder", "seq"}
