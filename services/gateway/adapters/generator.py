"""The generator over HTTP: NDJSON lines become events, and a line that says "error" is raised."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic import TypeAdapter, ValidationError

from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.contracts.writing import Decomposed, DecomposeRequest, WriteEvent, WriteRequest, WritingDone
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

_EVENT: TypeAdapter[WriteEvent] = TypeAdapter(WriteEvent)


class HttpGenerator:
    """Closing the events closes the connection, which stops the writing."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def decompose(self, request: DecomposeRequest) -> Decomposed:
        """Ask for the parts of a question."""
        return await self._client.post("/decompose", request, Decomposed)

    async def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        """Sentences and at last a WritingDone; raises RagstoneError, also when the end is missing."""
        try:
            # ServiceClient.stream_lines is typed as an iterator, but it is a generator and has to be closed.
            async with aclosing(self._client.stream_lines("/write", request)) as lines:  # type: ignore[type-var]
                async for line in lines:
                    event = _event_of(line)
                    yield event
                    if isinstance(event, WritingDone):
                        return
            raise RagstoneError(
                ErrorCode.GENERATOR_UNAVAILABLE, "The generator broke off before it was done; ask again."
            )
        except RagstoneError as error:
            # The visitor gets an answer that says so; why it happened is for who runs it.
            log.warning("writing_failed", code=error.code, why=error.detail)
            raise
        except UnicodeDecodeError as error:
            log.warning("writing_failed", code=ErrorCode.GENERATOR_UNAVAILABLE, why="a line was cut within a character")
            raise _unknown_form() from error


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
        return _unknown_form()


def _unknown_form() -> RagstoneError:
    detail = "The generator answered in a form this version does not know; run the same version everywhere."
    return RagstoneError(ErrorCode.GENERATOR_UNAVAILABLE, detail)
