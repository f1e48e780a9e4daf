"""Other people's clients at a whole Ragstone: OpenAI's, and agents by MCP over HTTP and through the command."""

import sys
from pathlib import Path

import httpx2
import openai
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.stack import ROOT, Stack

SHED = "# The shed 😀\n\nThe shed of Häuserstrasse opens at nine. Rule 7 forbids lamps in the shed.\n"
QUESTION = "When does the shed of Häuserstrasse open?"


@pytest.fixture
def filled(stack: Stack, space: str) -> str:
    """A space that knows when the shed opens."""
    assert stack.add(SHED, "shed.md", space).state == "succeeded"
    return space


def test_a_chat_client_gets_cited_sentences(stack: Stack, filled: str) -> None:
    with openai.OpenAI(
        base_url=f"{stack.base_url}/v1", api_key="none", default_headers={"Ragstone-Space": filled}
    ) as client:
        asked: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
        answer = client.chat.completions.create(model="ragstone", messages=asked)
        text = answer.choices[0].message.content or ""
        assert "opens at nine [1]" in text
        link = next(line for line in text.splitlines() if line.startswith("[1] ")).rpartition(" — ")[2].strip()
        cited = (answer.model_extra or {})["citations"][0]
        assert link == stack.base_url + cited["url"]
        stream = client.chat.completions.create(model="ragstone", messages=asked, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == text


async def see_all(client: Client) -> None:
    """What an agent does: look, ask, search, and read the place of a citation."""
    listed = (await client.call_tool("list_documents", {})).structured_content
    assert [one["id"] for one in listed["items"]] == ["shed.md"]
    answer = (await client.call_tool("ask", {"question": QUESTION})).structured_content
    assert answer["status"] == "answered"
    cited = answer["citations"][0]
    place = {name: cited[name] for name in ("document_id", "version", "start", "end")}
    assert (await client.call_tool("get_source", place)).structured_content["text"] == cited["quote"]
    found = (await client.call_tool("search", {"question": QUESTION})).structured_content
    whole = (await client.call_tool("get_source", {"document_id": "shed.md"})).structured_content["text"]
    for passage in found["passages"]:
        assert whole[passage["start"] : passage["end"]] == passage["text"][passage["lead"] :]


async def test_an_agent_by_http(stack: Stack, filled: str) -> None:
    async with (
        httpx2.AsyncClient(headers={"Ragstone-Space": filled}, timeout=60) as http,
        Client(streamable_http_client(f"{stack.base_url}/mcp", http_client=http)) as client,
    ):
        await see_all(client)


async def test_an_agent_that_starts_the_command(stack: Stack, filled: str, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "services.local", "mcp", "--space", filled],
        env={**stack.environment, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
    )
    async with Client(command) as client:
        await see_all(client)
