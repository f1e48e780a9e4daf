"""The judge: a language model behind an OpenAI-compatible server, such as llama.cpp's, vLLM or Ollama's /v1."""

import time
from typing import Any

import httpx

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.evaluation.reviewers.judging import JudgePrompt

TRIES = 2
PAUSE_S = 1.0
CONNECT_S = 5.0
KNOWN_S = 60.0
"""So long after a reply nobody asks whether it is there: each time slice of an evaluation would."""
_SHOWN = 200
"""Characters of a server's own words that an error repeats."""


class HttpJudge:
    """Asks one thing at a time, with the reply's JSON schema, temperature 0 and a fixed seed.

    A timeout, a broken connection and a status of 500 or more are tried once more. Everything that keeps it from
    answering is a RagstoneError (judge_unavailable) that names the server, the model and what to do.
    """

    def __init__(
        self, *, url: str, model: str | None, timeout_s: float, max_tokens: int, pause_s: float = PAUSE_S
    ) -> None:
        self._url = url.strip().rstrip("/").removesuffix("/v1")
        self._model = model or None
        self._max_tokens = max_tokens
        self._pause_s = pause_s
        self._known_until = 0.0
        self._client = httpx.Client(
            timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)), trust_env=False
        )

    @property
    def name(self) -> str:
        """The model's; empty before the first probe when the server is to choose."""
        return self._model or ""

    def close(self) -> None:
        self._client.close()

    def probe(self) -> None:
        """Lets the model say a word or two, so that it is known to be there and is loaded. Raises RagstoneError.

        Without a model's name it is the first that the server names, so that nobody takes the writer for the judge.
        One that replied just now is not asked.
        """
        if time.monotonic() < self._known_until:
            return
        if self._model is None:
            self._model = self._first_model()
        self._choice(self._reply({"messages": [{"role": "user", "content": "Say: ready"}], "max_tokens": 8}))

    def ask(self, prompt: JudgePrompt) -> str:
        """The model's reply, which should be JSON of the prompt's schema. Raises RagstoneError."""
        body = {
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "max_tokens": self._max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": prompt.schema},
            },
        }
        return self._said(self._reply(body))

    def _reply(self, body: dict[str, Any]) -> Any:
        wanted = {"model": self._model, "temperature": 0, "seed": 0, "stream": False, **body}
        return self._called("POST", "/v1/chat/completions", wanted)

    def _first_model(self) -> str:
        found = self._called("GET", "/v1/models", None)
        try:
            return str(found["data"][0]["id"])
        except (KeyError, IndexError, TypeError) as error:
            raise self._error("names no model", "name one by RAGSTONE_JUDGE_MODEL") from error

    def _called(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """The server's JSON, after a second try where that may help."""
        for n in range(1, TRIES + 1):
            try:
                response = self._client.request(method, f"{self._url}{path}", json=body)
            except httpx.TransportError as error:
                if n < TRIES and not isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol):
                    time.sleep(self._pause_s)
                    continue
                raise self._error(_why(error), "is it running, and is RAGSTONE_JUDGE_URL its address?") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise self._error(f"is no usable address ({error})", "correct RAGSTONE_JUDGE_URL") from error
            if response.status_code >= 500 and n < TRIES:
                time.sleep(self._pause_s)
                continue
            if not response.is_success:
                raise self._refusal(response)
            self._known_until = time.monotonic() + KNOWN_S
            try:
                return response.json()
            except ValueError as error:
                raise self._error("answers no JSON", "is it an OpenAI-compatible server?") from error
        raise AssertionError("unreachable")

    def _choice(self, reply: Any) -> tuple[Any, Any]:
        """What the first choice says, and why it ended."""
        try:
            choice = reply["choices"][0]
            return choice["message"]["content"], choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._error("answers in another form", "is it an OpenAI-compatible server?") from error

    def _said(self, reply: Any) -> str:
        said, ended = self._choice(reply)
        if ended == "length":
            why = f"came to no verdict within {self._max_tokens} tokens"
            raise self._error(why, "raise RAGSTONE_JUDGE_MAX_TOKENS, or name a model that does not think aloud")
        if not isinstance(said, str) or not said.strip():
            raise self._error("answers with an empty text", "name another model by RAGSTONE_JUDGE_MODEL")
        return said

    def _refusal(self, response: httpx.Response) -> RagstoneError:
        status, words = response.status_code, _words(response)
        if status == 404:
            what = "name one that it has by RAGSTONE_JUDGE_MODEL, and see that RAGSTONE_JUDGE_URL has no further path"
        elif status in (401, 403):
            what = "ask one that wants no key"
        elif status >= 500:
            what = "see its log; the model may be too big for the machine or still loading"
        else:
            what = "its context may be too small, or it may not know JSON schemas; see its log"
        return self._error(f"answered {status}{words}", what)

    def _error(self, why: str, what: str) -> RagstoneError:
        named = f"The judge {self._model}" if self._model else "The judge"
        detail = f"{named} at {self._url} {why}; {what}"
        return RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, detail if detail.endswith("?") else f"{detail}.")


def _why(error: httpx.TransportError) -> str:
    kind = "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
    return f"{kind} ({type(error).__name__})"


def _words(response: httpx.Response) -> str:
    """What the server says of it, in a few words of one line."""
    try:
        said = response.json()["error"]
        text = said["message"] if isinstance(said, dict) else said
    except (ValueError, KeyError, TypeError):
        text = response.text
    line = " ".join(str(text).split())[:_SHOWN].rstrip(".")
    return f" ({line})" if line else ""
