"""The MCP server over a library: the same tools and resources behind every transport.

Importing the SDK takes most of a second, so this module is imported where a server is about to run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from services.shared.agents.addresses import TEMPLATE, address, addressed
from services.shared.agents.library import Library
from services.shared.agents.messages import PAGE, schema
from services.shared.agents.tools import INSTRUCTIONS, TOOLS, Tool, refuse_unaddressable
from services.shared.contracts.documents import Document
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.version import product_version

log = get_logger(__name__)

RESOURCE_MAX = 400_000
"""Longest document that is read whole, code points; get_source reads longer ones in parts."""

LibraryOf = Callable[[Any], Library]
"""The library for the HTTP request that a call came with; None where it came otherwise."""

_READS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def mcp_server(library_of: LibraryOf) -> Server[Any]:
    """A server whose every call goes to the library of its request."""
    doors = _Doors(library_of)
    return Server(
        "ragstone",
        title="Ragstone",
        version=product_version(),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: schema(TOOLS[name].takes) if name in TOOLS else None,
        on_list_tools=doors.list_tools,
        on_call_tool=doors.call_tool,
        on_list_resources=doors.list_resources,
        on_list_resource_templates=doors.list_templates,
        on_read_resource=doors.read_resource,
    )


class _Doors:
    """The handlers; each raises MCPError only."""

    def __init__(self, library_of: LibraryOf) -> None:
        self._library_of = library_of

    async def list_tools(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_advertised(tool) for tool in TOOLS.values()])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What failed is told to the model, which can do better; only a tool that is not there is a wrong request."""
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}; there are {', '.join(TOOLS)}."
            )
        try:
            result = await tool.run(self._library_of(context.request), params.arguments or {})
        except RagstoneError as error:
            return _failed(_said(error))
        except Exception:
            log.exception("tool_failed", tool=tool.name)
            return _failed(_INTERNAL)
        text = types.TextContent(text=result.model_dump_json())
        return types.CallToolResult(content=[text], structured_content=result.model_dump(mode="json"))

    async def list_resources(
        self, context: Any, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = None if params is None else params.cursor
        with _refusals():
            page = await self._library_of(context.request).documents(None, cursor, PAGE)
        return types.ListResourcesResult(
            resources=[_resource(document) for document in page.items], next_cursor=page.next_cursor
        )

    async def list_templates(
        self, _: Any, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="document",
            title="Document",
            uri_template=TEMPLATE,
            description="A document's extracted text, by its id (percent-encoded)",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        id = addressed(params.uri)
        if id is None:
            raise MCPError(types.INVALID_PARAMS, f"{params.uri[:200]!r} is no address of a document; it is {TEMPLATE}.")
        with _refusals():
            refuse_unaddressable(id)
            text = (await self._library_of(context.request).text(id, None)).text
        if len(text) > RESOURCE_MAX:
            detail = f"Document {id[:80]!r} has {len(text)} code points; read it in parts with the tool get_source."
            raise MCPError(types.INVALID_PARAMS, detail)
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])


_INTERNAL = "internal: Something went wrong that should not have; the log of Ragstone has it."


def _advertised(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.takes),
        output_schema=schema(tool.gives),
        annotations=_READS,
    )


def _resource(document: Document) -> types.Resource:
    about = ", ".join([*([document.type] if document.type else []), *document.tags])
    return types.Resource(
        uri=address(document.id),
        name=document.id,
        title=document.title,
        description=about or None,
        mime_type="text/plain",
        annotations=types.Annotations(last_modified=document.updated_at.isoformat()),
    )


def _failed(why: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=why)], is_error=True)


@contextmanager
def _refusals() -> Iterator[None]:
    """Of resources; what nobody foresaw is in the log only, for the SDK would show it."""
    try:
        yield
    except RagstoneError as error:
        code = types.INVALID_PARAMS if error.status < 500 else types.INTERNAL_ERROR
        raise MCPError(code, _said(error), {"code": str(error.code)}) from error
    except Exception as error:
        log.exception("resource_failed")
        raise MCPError(types.INTERNAL_ERROR, _INTERNAL) from error


def _said(error: RagstoneError) -> str:
    """Code and sentence, with our tool in place of the API's door of the same use."""
    again = "" if error.retry_after_s is None else f" Try again in {error.retry_after_s} s."
    detail = error.detail.replace("GET /v1/documents lists", "list_documents lists")
    return f"{error.code}: {detail}{again}"
