"""`ragstone mcp` as an agent's client starts it, against a gateway on a real socket."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp_types import TextContent, TextResourceContents

from services.local.ports import free_port
from services.shared.contracts.ids import SpaceId
from tests.contract.listening import listening_beside, shed_world
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import NOON, SHED


@pytest.fixture
def world() -> World:
    return shed_world()


@pytest.fixture
def url(world: World) -> Iterator[str]:
    with listening_beside(world) as address:
        yield address


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def command(home: Path, url: str, *words: str, settings: Mapping[str, str] | None = None) -> StdioServerParameters:
    own = {"RAGSTONE_URL": url, "RAGSTONE_STATE_DIR": str(home / "state"), "PYTHONPATH": os.getcwd()}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "services.local", "mcp", *words],
        env={**os.environ, **own, **(settings or {})},
        cwd=home,
    )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_tool_and_resource(home: Path, url: str, world: World, mode: ConnectMode) -> None:
    world.documents.hold("Häuser/an der Elbe 😀?#.md", "Grüße 😀")
    async with Client(command(home, url), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search",
            "ask",
            "get_source",
            "list_documents",
        ]
        found = await client.call_tool("search", {"question": "When does the shed open?"})
        assert found.structured_content["passages"][0]["title"] == "Shed rules"
        answer = (await client.call_tool("ask", {"question": "When does the shed open?"})).structured_content
        assert answer["status"] == "answered"
        cited = answer["citations"][0]
        place = {name: cited[name] for name in ("document_id", "version", "start", "end")}
        assert (await client.call_tool("get_source", place)).structured_content["text"] == cited["quote"]
        whole = await client.call_tool("get_source", {"document_id": "shed.md"})
        assert whole.structured_content["text"] == SHED
        listed = await client.call_tool("list_documents", {"type": "faq & more"})
        assert len(listed.structured_content["items"]) == 2
        resources = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(resources[1].uri)).contents
        assert isinstance(contents, TextResourceContents)
        assert contents.text == "Grüße 😀"


async def test_failures_are_told(home: Path, url: str) -> None:
    async with Client(command(home, url)) as client:
        for tool, arguments, code in (
            ("search", {"question": "x" * 2001}, "question_too_long"),
            ("get_source", {"document_id": "nowhere"}, "document_not_found"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert isinstance(result.content[0], TextContent)
            assert result.content[0].text.startswith(f"{code}: ")
        with pytest.raises(MCPError):
            await client.read_resource("ragstone://documents/nowhere")


async def test_the_space_is_the_commands(home: Path, url: str, world: World) -> None:
    world.documents.hold("other.md", "In the other space.", space="other")
    for words, there in (((), "shed.md"), (("--space", "other"), "other.md")):
        async with Client(command(home, url, *words)) as client:
            listed = await client.call_tool("list_documents", {})
            assert [one["id"] for one in listed.structured_content["items"]] == [there]


async def test_a_gateway_that_is_away_is_said_and_may_come_back(home: Path, world: World) -> None:
    async with Client(command(home, f"http://127.0.0.1:{free_port()}")) as client:
        assert len((await client.list_tools()).tools) == 4
        away = await client.call_tool("ask", {"question": "When does the shed open?"})
        assert away.is_error
        assert isinstance(away.content[0], TextContent)
        assert away.content[0].text.startswith("gateway_unavailable: ")


async def test_the_key_is_the_settings(home: Path, url: str, world: World) -> None:
    world.documents.hold("other.md", "In the other space.", space="other")
    key = world.keys.make(space=SpaceId("other"))
    async with Client(command(home, url, settings={"RAGSTONE_KEY": key})) as client:
        listed = await client.call_tool("list_documents", {})
        assert [one["id"] for one in listed.structured_content["items"]] == ["other.md"]
    revoked = world.keys.make()
    world.keys.change(revoked, revoked_at=NOON)
    async with Client(command(home, url, settings={"RAGSTONE_KEY": revoked})) as client:
        refused = await client.call_tool("list_documents", {})
        assert refused.is_error
        assert isinstance(refused.content[0], TextContent)
        assert refused.content[0].text.startswith("key_invalid: ")
