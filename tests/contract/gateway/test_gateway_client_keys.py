"""Keys and limits at the doors for other people's clients: the same as everywhere, told in their words."""

import contextlib
from collections.abc import AsyncIterator

import httpx
import httpx2
import openai
import pytest
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from openai.types.chat import ChatCompletionMessageParam

from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.keys import Role
from tests.contract.listening import listening, shed_world
from tests.unit.gateway.fakes import World

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": "When does the shed open?"}]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PAGE = "https://example.com"


@pytest.fixture
def world() -> World:
    world = shed_world()
    world.documents.hold("other.md", "In the other space.", space="other")
    return world


@pytest.fixture
async def url(world: World) -> AsyncIterator[str]:
    async with listening(world) as address:
        yield address


@contextlib.asynccontextmanager
async def chatting(url: str, key: str, **headers: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, default_headers=headers) as client:
        yield client


@contextlib.asynccontextmanager
async def agent(url: str, mode: ConnectMode, key: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def test_the_key_is_the_clients_api_key_and_names_the_space(url: str, world: World) -> None:
    key = world.keys.make(space=SpaceId("other"))
    async with chatting(url, key) as client:
        await client.chat.completions.create(model="ragstone", messages=ASKED)
        assert world.retriever.calls[-1].space == "other"
        assert [model.id async for model in client.models.list()] == ["ragstone"]


async def test_a_wrong_key_and_another_space_are_refused_in_their_words(url: str, world: World) -> None:
    key = world.keys.make(space=SpaceId("other"))
    async with chatting(url, "rs_wrong") as client:
        for asking in (
            client.chat.completions.create(model="ragstone", messages=ASKED),
            client.models.retrieve("ragstone"),
        ):
            with pytest.raises(openai.AuthenticationError) as refused:
                await asking
            assert refused.value.code == ErrorCode.KEY_INVALID
            assert refused.value.type == "authentication_error"
    async with chatting(url, key, **{"Ragstone-Space": "main"}) as client:
        with pytest.raises(openai.PermissionDeniedError) as forbidden:
            await client.chat.completions.create(model="ragstone", messages=ASKED, stream=True)
        assert forbidden.value.code == ErrorCode.SPACE_NOT_ALLOWED


async def test_too_many_requests_are_what_their_client_waits_for(url: str, world: World) -> None:
    key = world.keys.make(requests_per_minute=1)
    async with chatting(url, key) as client:
        await client.chat.completions.create(model="ragstone", messages=ASKED)
        with pytest.raises(openai.RateLimitError) as refused:
            await client.chat.completions.create(model="ragstone", messages=ASKED)
    assert refused.value.code == ErrorCode.RATE_LIMITED
    assert int(refused.value.response.headers["Retry-After"]) > 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_works_in_the_space_of_its_key(url: str, world: World, mode: ConnectMode) -> None:
    async with agent(url, mode, world.keys.make(space=SpaceId("other"))) as client:
        listed = (await client.call_tool("list_documents", {})).structured_content
        assert [one["id"] for one in listed["items"]] == ["other.md"]
        await client.call_tool("ask", {"question": "When does the shed open?"})
    assert world.generator.calls[-1].client == "k0"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_with_a_wrong_key_does_not_get_in(url: str, world: World, mode: ConnectMode) -> None:
    world.keys.make()
    with pytest.raises(BaseExceptionGroup) as refused:
        await agent(url, mode, "rs_wrong").__aenter__()
    assert refused.group_contains(MCPError)


async def test_what_no_key_public_keys_and_other_spaces_get(url: str, world: World) -> None:
    read = world.keys.make(space=SpaceId("other"))
    public = world.keys.make(public=True, allowed_origins=[PAGE])
    accepted = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=url, trust_env=False, headers=accepted) as plain:
        for headers, status, code in (
            ({}, 401, ErrorCode.KEY_REQUIRED),
            ({"Authorization": f"Bearer {public}", "Origin": PAGE}, 403, ErrorCode.ROLE_INSUFFICIENT),
            ({"Authorization": f"Bearer {read}", "Ragstone-Space": "main"}, 403, ErrorCode.SPACE_NOT_ALLOWED),
        ):
            refused = await plain.post("/mcp", json=LIST, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (status, code)
        let_in = await plain.post("/mcp", json=LIST, headers={"Authorization": f"Bearer {read}"})
        assert let_in.status_code == 200
        assert (await plain.post("/mcp", json=LIST)).headers["WWW-Authenticate"] == "Bearer"


async def test_a_public_key_may_chat_from_its_own_page_only(url: str, world: World) -> None:
    public = world.keys.make(Role.READ, public=True, allowed_origins=[PAGE])
    async with chatting(url, public, Origin=PAGE) as client:
        answer = await client.chat.completions.create(model="ragstone", messages=ASKED)
        assert answer.choices[0].finish_reason == "stop"
    async with chatting(url, public) as client:
        with pytest.raises(openai.PermissionDeniedError):
            await client.chat.completions.create(model="ragstone", messages=ASKED)
