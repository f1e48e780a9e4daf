"""How a server of OpenAI's chat API can fail, and what a person is told of it."""

import httpx

from services.generator.adapters.openai_wire import StreamError, error_text, error_type


class Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}")
        self.status = status
        self.body = body


FAILURES = (
    Refused,
    StreamError,
    ConnectionError,
    httpx.HTTPError,
    httpx.InvalidURL,
    ValueError,  # JSON that is none, or of another shape; pydantic's errors are ValueErrors
    TimeoutError,
)
"""Whatever a call to such a server may raise."""


def why(error: BaseException, *, url: str, model: str) -> str:
    """What failed and what to do, for one of FAILURES."""
    where = f"The model server at {url}"
    if isinstance(error, Refused):
        return f"{where} {_refusal(error, model)}"
    if isinstance(error, StreamError):
        return f"{where} failed: {error}"
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return f"{where} did not answer in time."
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return f"{where} has no valid address; RAGSTONE_OPENAI_URL is such as http://127.0.0.1:8080."
    if isinstance(error, ConnectionError | httpx.TransportError):
        return f"{where} cannot be reached or broke off ({type(error).__name__}); is it running?"
    return f"{where} answered in a form that is not OpenAI's ({type(error).__name__})."


def _refusal(error: Refused, model: str) -> str:
    if error.status in (401, 403):
        return f"wants another key ({error.status}); set RAGSTONE_OPENAI_API_KEY."
    if "exceed_context" in error_type(error.body) or "context_length" in error_type(error.body):
        told = error_text(error.body)
        return f"has a smaller window than the prompt: {told}. Lower RAGSTONE_NUM_CTX or raise the server's."
    if error.status == 404:
        return f"knows no model {model} or no chat API: {error_text(error.body)}"
    return f"failed ({error.status}): {error_text(error.body)}"
