"""What the OpenAPI document says of refusals and keys, which routes cannot say one by one."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from services.gateway.app.openai_errors import OpenAIProblem, is_theirs
from services.shared.contracts.errors import Problem
from services.shared.kit.http_app import PROBLEM_TYPE

Responses = dict[int | str, dict[str, Any]]

WHY = {
    400: "The body could not be read at all",
    401: "A key is needed, or this one opens nothing",
    403: "The key, the page's origin or the host is not allowed to",
    404: "There is no such thing in this space",
    408: "The body did not arrive in time",
    409: "Not in the state that it is in",
    413: "Too large",
    415: "Not a kind of body that is taken",
    422: "The request is at fault; the problem document says how",
    429: "Too many requests; Retry-After says when there is room",
    500: "Something went wrong that should not have; the log has it under the request id",
    503: "A part that is needed is away or busy; try again later",
}
"""Every refusal, each a problem document (RFC 9457)."""

ANYWHERE = (401, 403, 422, 429, 500, 503)
WITH_A_BODY = (400, 408, 413)
OF_ONE = 404
_LATER = {429, 503}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 0}}}
_REFERENCE = "#/components/schemas/"
_SCHEME = "key"


def problems(*statuses: int) -> Responses:
    """Refusals for a route's ``responses``."""
    return {status: {"model": Problem, "description": WHY[status]} for status in statuses}


def describe(app: FastAPI, open_paths: frozenset[str]) -> None:
    """Have the application's OpenAPI document tell all of it; ``open_paths`` need no key."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            complete(plain(), open_paths)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def complete(document: dict[str, Any], open_paths: frozenset[str]) -> None:
    """Add to the document what follows from the shape of each operation."""
    parts = document["components"]
    parts["schemas"][OpenAIProblem.__name__] = OpenAIProblem.model_json_schema(ref_template=_REFERENCE + "{model}")
    parts["schemas"].update(parts["schemas"][OpenAIProblem.__name__].pop("$defs"))
    parts["securitySchemes"] = {
        _SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "A key of this gateway (rs_…). Until one was made, programs on its own machine need none.",
        }
    }
    document["security"] = [{_SCHEME: []}]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path in open_paths:
                operation["security"] = []
            else:
                _refuses(path, operation)
    _link(document["paths"])


def _link(paths: dict[str, dict[str, Any]]) -> None:
    """From each list to what can be done with one of its items."""
    for path, operations in paths.items():
        for other, of_one in paths.items():
            if "get" in operations and other.startswith(path + "/{id}"):
                links = operations["get"]["responses"]["200"].setdefault("links", {})
                links.update((operation["operationId"], _to_item(operation)) for operation in of_one.values())


def _to_item(operation: Mapping[str, Any]) -> dict[str, Any]:
    return {"operationId": operation["operationId"], "parameters": {"path.id": "$response.body#/items/0/id"}}


def _refuses(path: str, operation: dict[str, Any]) -> None:
    given = operation["responses"]
    named = [int(status) for status in given if status.isdecimal() and int(status) >= min(WHY)]
    shaped = (*(WITH_A_BODY if "requestBody" in operation else ()), *((OF_ONE,) if "{" in path else ()))
    statuses = {*ANYWHERE, *named, *shaped}
    model: type[Problem] = Problem
    if is_theirs(path):
        model = OpenAIProblem
        given.pop("422", None)
        statuses = statuses - {422} | {400}
    for status in sorted(statuses):
        given[str(status)] = _refusal(status, given.get(str(status), {}), model)


def _refusal(status: int, given: Mapping[str, Any], model: type[Problem]) -> dict[str, Any]:
    content = {PROBLEM_TYPE: {"schema": {"$ref": _REFERENCE + model.__name__}}}
    said = {"description": given.get("description") or WHY[status], "content": content}
    return {**said, "headers": _RETRY_AFTER} if status in _LATER else said
