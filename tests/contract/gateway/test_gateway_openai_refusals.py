"""What the OpenAI-compatible door does not have or cannot read, told in the form of its clients."""

from collections.abc import AsyncIterator

import httpx
import openai
import pytest

from services.gateway.app.openai_errors import is_theirs
from services.shared.contracts.errors import ErrorCode
from tests.contract.listening import listening, shed_world


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with listening(shed_world()) as address:
        yield address


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("POST", f"/v1/{name}") for name in ("completions", "embeddings", "responses", "moderations")),
        *(("POST", "/v1/images/generations"), ("GET", "/v1/files"), ("GET", "/v1/chat/completions/chatcmpl-1")),
    ],
)
async def test_the_rest_of_their_api_is_refused_in_their_form(url: str, method: str, path: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        refused = await plain.request(method, path)
    said = refused.json()
    assert refused.status_code == said["status"] == 404
    assert said["error"]["code"] == said["code"] == "route_not_found"
    assert said["error"]["type"] == "invalid_request_error"
    assert said["error"]["message"] == said["detail"]
    assert said["detail"].startswith(f"There is no {path} here")
    assert "/v1/chat/completions and /v1/models" in said["detail"]


async def test_their_client_shows_what_there_is(url: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError, match="of OpenAI's API there are") as refused:
            await client.embeddings.create(model="ragstone", input="a")
    assert refused.value.code == ErrorCode.ROUTE_NOT_FOUND


async def test_only_their_routes_have_their_form(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        routes = (await plain.get("/openapi.json")).json()["paths"]
        ours = await plain.get("/v1/nothing")
    assert {path for path in routes if is_theirs(path)} == {"/v1/chat/completions", "/v1/models", "/v1/models/{id}"}
    assert "error" not in ours.json()


async def test_broken_json_is_said_to_be_none(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        refused = await plain.post(
            "/v1/chat/completions", content=b'{"messages": ', headers={"Content-Type": "application/json"}
        )
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "The body is not JSON (near character 14): Expecting value."
