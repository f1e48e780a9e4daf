"""The tools over a library in memory: what they take, give and refuse."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.agents.addresses import address, addressed
from services.shared.agents.library import VersionText
from services.shared.agents.messages import SPAN_MAX, SourceSpan, schema
from services.shared.agents.tools import TOOLS
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.search import FINAL_PASSAGES, SearchRequest, SearchResponse

TEXT = "Häuser 😀 " * 5000
"""45,000 code points."""


class OneText:
    """A library of one document."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def search(self, request: SearchRequest) -> SearchResponse:
        self.asked.append(request)
        raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "It rests.")

    async def ask(self, request: AskRequest) -> Answer:
        self.asked.append(request)
        raise RagstoneError(ErrorCode.BUSY, "Too much to do.")

    async def text(self, document_id: DocumentId, version: VersionId | None) -> VersionText:
        return VersionText(document_id, version or VersionId("v1"), TEXT)

    async def documents(self, type: str | None, cursor: str | None, limit: int) -> DocumentList:
        self.asked.append((type, cursor, limit))
        return DocumentList(items=[], next_cursor="next")

    async def document(self, document_id: DocumentId) -> Document:
        raise RagstoneError(ErrorCode.DOCUMENT_NOT_FOUND, "It is not there.")


async def span(**arguments: Any) -> SourceSpan:
    result = await TOOLS["get_source"].run(OneText(), {"document_id": "a/b.md", **arguments})
    assert isinstance(result, SourceSpan)
    return result


async def refused(tool: str, arguments: Mapping[str, Any]) -> RagstoneError:
    with pytest.raises(RagstoneError) as error:
        await TOOLS[tool].run(OneText(), arguments)
    return error.value


async def test_a_span_is_cut_in_code_points() -> None:
    found = await span(start=7, end=8, version="v7")
    assert (found.text, found.start, found.end, found.version) == ("😀", 7, 8, "v7")
    assert found.length == len(TEXT)


async def test_a_long_text_comes_in_parts_that_make_it_whole() -> None:
    parts, at = [], 0
    while at < len(TEXT):
        part = await span(start=at)
        assert 0 < len(part.text) <= SPAN_MAX
        parts.append(part.text)
        at = part.end
    assert "".join(parts) == TEXT
    assert len(parts) == 3
    assert (await span(start=5, end=10**9)).end == 5 + SPAN_MAX
    assert (await span(start=len(TEXT))).text == ""


async def test_a_span_outside_the_text_is_refused() -> None:
    for start, end, said in (
        (len(TEXT) + 1, None, "start: it is 45001, and the text has 45000 code points"),
        (10, 5, "end: it is 5, before start, which is 10"),
        (None, -1, "end: "),
    ):
        error = await refused("get_source", {"document_id": "a", "start": start, "end": end})
        assert error.code is ErrorCode.INVALID_REQUEST
        assert error.detail.startswith(said)


async def test_whatever_is_optional_may_be_null() -> None:
    assert await span(start=None, end=None, version=None) == await span()
    library = OneText()
    for tool in TOOLS.values():
        taken = schema(tool.takes)
        optional = taken["properties"].keys() - set(taken.get("required", ()))
        for name in optional:
            kinds = {kind.get("type") for kind in taken["properties"][name].get("anyOf", ())}
            assert "null" in kinds, f"{tool.name}: {name}"
    with pytest.raises(RagstoneError, match="It rests"):
        await TOOLS["search"].run(library, {"question": "x", "filters": None, "top_k": None})
    assert [request.top_k for request in library.asked] == [FINAL_PASSAGES]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {}, "question"),
        ("search", {"question": "x", "top_k": 0}, "top_k"),
        ("search", {"question": "x", "top_k": 51}, "top_k"),
        ("search", {"question": "x", "filters": {"color": "red"}}, "filters.color"),
        ("search", {"question": "x", "explain": True}, "explain"),
        ("ask", {"question": 7}, "question"),
        ("ask", {"question": "x", "history": [{"question": "y"}]}, "history.0.answer"),
        ("ask", {"question": "\ud800"}, "lone surrogate"),
        ("get_source", {"document_id": "a", "start": -1}, "start"),
        ("list_documents", {"cursor": "x" * 2001}, "cursor"),
    ],
)
async def test_arguments_that_do_not_fit_are_named(tool: str, arguments: Mapping[str, Any], said: str) -> None:
    error = await refused(tool, arguments)
    assert error.code is ErrorCode.INVALID_REQUEST
    assert said in error.detail


@pytest.mark.parametrize("id", ["../x", "a\nb", "x" * 513, "a\0"])
async def test_an_id_that_no_document_has_is_refused(id: str) -> None:
    assert (await refused("get_source", {"document_id": id})).code is ErrorCode.DOCUMENT_ID_INVALID


async def test_what_the_library_refuses_is_passed_on() -> None:
    assert (await refused("search", {"question": "x"})).code is ErrorCode.RETRIEVER_UNAVAILABLE
    assert (await refused("ask", {"question": "x"})).code is ErrorCode.BUSY


async def test_pages_and_types_are_passed_on() -> None:
    library = OneText()
    listed = await TOOLS["list_documents"].run(library, {"type": "faq", "cursor": "here"})
    assert library.asked == [("faq", "here", 50)]
    assert listed.model_dump() == {"items": [], "next_cursor": "next"}


def test_every_tool_says_what_each_of_its_arguments_is() -> None:
    for tool in TOOLS.values():
        assert len(tool.description) > 80
        silent = [name for name, field in schema(tool.takes)["properties"].items() if not field.get("description")]
        assert not silent, f"{tool.name}: {silent}"
        assert schema(tool.gives)["type"] == schema(tool.takes)["type"] == "object"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50))
def test_every_id_has_an_address_that_leads_back(id: str) -> None:
    assert addressed(address(DocumentId(id))) == id


def test_other_addresses_lead_nowhere() -> None:
    for uri in ("ragstone://documents/", "https://example.com", "xragstone://documents/a", "ragstone://spaces/a"):
        assert addressed(uri) is None
