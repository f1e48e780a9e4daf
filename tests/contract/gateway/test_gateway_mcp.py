"""MCP at /mcp, asked with the SDK's own client over a real socket, in the old way (handshake) and the new one."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from tests.contract.listening import listening, shed_world
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED

MESSAGE = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture
def world() -> World:
    return shed_world()


@pytest.fixture
async def url(world: World) -> AsyncIterator[str]:
    async with listening(world) as address:
        yield address


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> ConnectMode:
    chosen: ConnectMode = request.param
    return chosen


@pytest.fixture
def client(url: str, mode: ConnectMode) -> Client:
    """Not connected yet: it has to be entered and left by one task, which a fixture is not."""
    return Client(f"{url}/mcp", mode=mode)


def said(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_it_says_what_it_is_and_how_to_use_it(client: Client) -> None:
    async with client:
        assert client.server_info is not None
        assert client.server_info.name == "ragstone"
        assert "abstained" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"search", "ask", "get_source", "list_documents"}
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.output_schema is not None
            assert tool.input_schema["additionalProperties"] is False


async def test_search_gives_passages_to_judge(client: Client) -> None:
    async with client:
        result = await client.call_tool("search", {"question": "When does the shed open?", "top_k": 3})
        assert json.loads(said(result)) == result.structured_content
        (found,) = result.structured_content["passages"]
        assert SHED[found["start"] : found["end"]] == found["text"][found["lead"] :]
        assert {"score", "critic", "distance", "bm25"} <= set(found)
        assert result.structured_content["verdict"]["answerable"] == 0.9


async def test_ask_gives_an_answer_with_citations(client: Client, world: World) -> None:
    async with client:
        turn = {"question": "What is the shed?", "answer": "A shed."}
        result = await client.call_tool("ask", {"question": "When does the shed open?", "history": [turn]})
        answer = result.structured_content
        assert answer["status"] == "answered"
        assert answer["text"] == "The shed opens at nine [1]. Rule 7 forbids lamps [2]."
        for cited in answer["citations"]:
            assert SHED[cited["start"] : cited["end"]] == cited["quote"]
        assert answer["id"] in str(world.remembered.kept)


async def test_get_source_gives_the_span_of_a_citation(client: Client) -> None:
    async with client:
        answer = (await client.call_tool("ask", {"question": "When does the shed open?"})).structured_content
        cited = answer["citations"][0]
        place = {name: cited[name] for name in ("document_id", "version", "start", "end")}
        span = (await client.call_tool("get_source", place)).structured_content
        assert span["text"] == cited["quote"]
        assert span["length"] == len(SHED)


async def test_documents_are_listed_and_read_as_resources(client: Client, world: World) -> None:
    async with client:
        world.documents.hold("Häuser/an der Elbe 😀?#.md", "Grüße 😀")
        listed = (await client.call_tool("list_documents", {})).structured_content
        assert [one["id"] for one in listed["items"]] == ["shed.md", "Häuser/an der Elbe 😀?#.md"]
        resources = (await client.list_resources()).resources
        assert [one.title for one in resources] == ["shed.md", "Häuser/an der Elbe 😀?#.md"]
        (contents,) = (await client.read_resource(resources[1].uri)).contents
        assert isinstance(contents, TextResourceContents)
        assert contents.text == "Grüße 😀"
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "ragstone://documents/{id}"


async def test_failures_are_told_with_code_and_sentence(client: Client, world: World) -> None:
    async with client:
        for tool, arguments, code in (
            ("search", {"question": "x" * 2001}, ErrorCode.QUESTION_TOO_LONG),
            ("ask", {"question": " "}, ErrorCode.QUESTION_EMPTY),
            ("get_source", {"document_id": "nowhere"}, ErrorCode.DOCUMENT_NOT_FOUND),
            ("get_source", {"document_id": "shed.md", "version": "v9"}, ErrorCode.VERSION_NOT_FOUND),
            ("search", {"words": "x"}, ErrorCode.INVALID_REQUEST),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert said(result).startswith(f"{code}: ")
        world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "It rests.", retry_after_s=5)
        away = await client.call_tool("search", {"question": "When?"})
        assert said(away) == "retriever_unavailable: It rests. Try again in 5 s."


async def test_a_fault_of_ours_shows_nothing_of_itself(client: Client, world: World) -> None:
    async with client:

        def broken() -> None:
            raise RuntimeError("secret")

        world.generator.script.insert(0, broken)
        result = await client.call_tool("ask", {"question": "When does the shed open?"})
        assert result.is_error
        assert said(result).startswith("internal: ")
        assert "secret" not in said(result)


async def test_a_fault_of_ours_shows_nothing_in_resources_either(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(world.documents, "source", broken)
    monkeypatch.setattr(world.documents, "page", broken)
    async with client:
        for asking in (client.list_resources(), client.read_resource("ragstone://documents/shed.md")):
            with pytest.raises(MCPError, match=r"^internal: "):
                await asking


async def test_what_is_not_there_is_a_wrong_request(client: Client) -> None:
    async with client:
        for uri in ("ragstone://documents/nowhere", "ragstone://documents/..", "https://example.com/"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="There is no tool 'sudo'"):
            await client.call_tool("sudo", {})


async def test_a_long_document_is_read_in_parts(client: Client, world: World) -> None:
    async with client:
        world.documents.hold("long.md", "x" * 400_001)
        with pytest.raises(MCPError, match="get_source"):
            await client.read_resource("ragstone://documents/long.md")
        part = (await client.call_tool("get_source", {"document_id": "long.md"})).structured_content
        assert len(part["text"]) == 20_000


async def test_each_space_has_its_own_documents(url: str, world: World, mode: ConnectMode) -> None:
    world.documents.hold("other.md", "In the other space.", space="other")
    for space, there, not_there in (("other", "other.md", "shed.md"), ("main", "shed.md", "other.md")):
        async with (
            httpx2.AsyncClient(headers={"Ragstone-Space": space}) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):
            listed = (await client.call_tool("list_documents", {})).structured_content
            assert [one["id"] for one in listed["items"]] == [there]
            assert (await client.call_tool("get_source", {"document_id": not_there})).is_error
            with pytest.raises(MCPError):
                await client.read_resource(f"ragstone://documents/{not_there}")
            await client.call_tool("search", {"question": "When does the shed open?"})
            assert world.retriever.calls[-1].space == SpaceId(space)


async def test_an_agent_that_leaves_stops_the_writer(url: str, world: World, mode: ConnectMode) -> None:
    world.generator.script.insert(1, 60.0)
    async with Client(f"{url}/mcp", mode=mode) as client:
        asking = asyncio.create_task(client.call_tool("ask", {"question": "When does the shed open?"}))
        while not world.generator.calls:
            await asyncio.sleep(0.05)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    for _ in range(200):
        if world.generator.closed:
            break
        await asyncio.sleep(0.05)
    assert world.generator.closed == 1


async def test_many_at_once_are_kept_apart(client: Client) -> None:
    async with client:
        spans = [
            client.call_tool("get_source", {"document_id": "shed.md", "start": at, "end": at + 1}) for at in range(20)
        ]
        assert [(await span).structured_content["text"] for span in spans] == list(SHED[:20])
        together = await asyncio.gather(
            *(
                client.call_tool("get_source", {"document_id": "shed.md", "start": at, "end": at + 1})
                for at in range(20)
            )
        )
        assert [one.structured_content["text"] for one in together] == list(SHED[:20])


async def post(url: str, body: object, path: str = "/mcp", **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        return await plain.post(path, content=json.dumps(body), headers={**MESSAGE, **headers})


PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def test_requests_have_ids_and_both_spellings_of_the_path(url: str) -> None:
    for path in ("/mcp", "/mcp/"):
        answered = await post(url, PING, path, **{"X-Request-ID": "agent-7"})
        assert answered.status_code == 200
        assert answered.headers["X-Request-ID"] == "agent-7"
        assert "list_documents" in answered.text
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        for method in ("GET", "DELETE"):
            refused = await plain.request(method, "/mcp")
            assert refused.status_code == 405
            assert refused.headers["Allow"] == "POST"
            assert refused.json()["code"] == "method_not_allowed"


async def test_a_name_that_is_no_space_is_refused_before_anything_else(url: str) -> None:
    refused = await post(url, PING, **{"Ragstone-Space": "No Space"})
    assert (refused.status_code, refused.json()["code"]) == (422, "space_invalid")


@pytest.mark.parametrize("body", [{}, [], [PING], 7, None, {"jsonrpc": "2.0"}, {**PING, "jsonrpc": "1.0"}])
@pytest.mark.parametrize("version", ["", "2025-06-18"])
async def test_what_is_no_message_is_refused_in_one_sentence(url: str, body: object, version: str) -> None:
    refused = await post(url, body, **({"MCP-Protocol-Version": version} if version else {}))
    said = refused.json()
    assert refused.status_code == 400
    assert (said["jsonrpc"], said["id"], said["error"]["code"]) == ("2.0", None, -32600)
    assert said["error"]["message"].startswith("The body is no JSON-RPC message: ")
    assert "\n" not in refused.text
    assert "pydantic" not in refused.text


async def test_what_is_no_json_is_refused_too(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        refused = await plain.post("/mcp", content=b'{"jsonrpc": ', headers=MESSAGE)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32700)


async def test_a_body_that_is_too_large_is_refused(url: str) -> None:
    refused = await post(url, {**PING, "params": {"x": "y" * 1_100_000}})
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
