"""The generator over HTTP: NDJSON lines become events, and a line that says "error" is raised."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic import TypeAdapter, ValidationError

from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.contracts.writing import WriteEvent, WriteRequest, WritingDone
from services.shared.kit.http_client import ServiceClient

_EVENT: TypeAdapter[WriteEvent] = TypeAdapter(WriteEvent)


class HttpGenerator:
    """Closing the events closes the connection, which stops the writing."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        """Sentences and at last a WritingDone; raises RagstoneError, also when the end is missing."""
        # ServiceClient.stream_lines is typed as an iterator, but it is a generator and has to be closed.
        async with aclosing(self._client.stream_lines("/write", request)) as lines:  # type: ignore[type-var]
            async for line in lines:
                event = _event_of(line)
                yield event
                if isinstance(event, WritingDone):
                    return
        raise RagstoneError(ErrorCode.GENERATOR_UNAVAILABLE, "The generator broke off before it was done; ask again.")


def _event_of(line: str) -> WriteEvent:
    try:
        return _EVENT.validate_json(line)
    except ValidationError as error:
        raise _problem_of(line) from error


def _problem_of(line: str) -> RagstoneError:
    try:
        problem = Problem.model_validate(json.loads(line))
        return RagstoneError(problem.code, problem.detail)
    except ValueError:
        detail = "The generator answered in a form this version does not know; run the same version everywhere."
        return RagstoneError(ErrorCode.GENERATOR_UNAVAILABLE, detail)
