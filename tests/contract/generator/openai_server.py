"""A small HTTP server that speaks OpenAI's chat API as llama.cpp's server does (recorded), by script."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.contract.generator.scripted_server import ScriptedServer, scripted

MODEL = "qwen2.5-0.5b"
ROLE: dict[str, Any] = {"role": "assistant", "content": None}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One event of a stream."""
    return {
        "choices": [{"finish_reason": finish, "index": 0, "delta": delta}], "created": 1796025370,
        "id": "chatcmpl-0BcqyIrGgJlddWEkuRkUpBKdjcYqyokK", "model": MODEL, "system_fingerprint": "b0-unknown",
        "object": "chat.completion.chunk",
    }  # fmt: skip


def says(text: str) -> dict[str, Any]:
    """Some words of the model."""
    return chunk({"content": text})


def ends(reason: str = "stop") -> dict[str, Any]:
    """The event that says why the model is done."""
    return {**chunk({}, reason), "timings": {"cache_n": 0, "prompt_n": 33, "predicted_n": 6}}


DONE = b"data: [DONE]\n\n"


def listed(name: str, **more: Any) -> dict[str, Any]:
    """A model as /v1/models lists it."""
    return {"id": name, "object": "model", "created": 1796025370, "owned_by": "llamacpp", **more}


class OpenAIServer(ScriptedServer):
    """/v1/chat/completions plays the script, or ``refusals`` first; /v1/models lists ``models``.

    The writer's warm-up (one token) and trial (told by its schema) are no questions: they are kept in ``loads`` and
    ``tried`` and get what they want, or prose where ``obeys`` is False. /tokenize counts words where ``counts``.
    """

    content_type = "text/event-stream"

    def __init__(self) -> None:
        super().__init__()
        self.models = [listed(MODEL, aliases=[MODEL], meta={"n_ctx": 4096})]
        self.models_status = 200
        self.refusals: list[tuple[int, Any]] = []
        self.keys: list[str | None] = []
        self.load_s = 0.0
        self.loads: list[dict[str, Any]] = []
        self.obeys = True
        self.refuses_schema = False
        self.tried: list[dict[str, Any]] = []
        self.counts = True
        self.counted = 0

    async def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any] | None:
        """The doors that the writer uses."""
        self.keys.append(headers.get("authorization"))
        if path == "/v1/models":
            if self.models_status != 200:
                error = {"message": "Loading model", "type": "unavailable_error", "code": self.models_status}
                return self.models_status, {"error": error}
            return 200, {"object": "list", "data": self.models}
        if path == "/tokenize":
            self.counted += 1
            if self.counts:
                return 200, {"tokens": list(range(len(body["content"].split())))}
        if path != "/v1/chat/completions":
            return 404, {"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}
        if body["max_tokens"] == 1:
            self.loads.append(body)
            await asyncio.sleep(self.load_s)
        elif _is_trial(body):
            self.tried.append(body)
            if self.refuses_schema:
                return 400, {"error": {"message": "response_format json_schema is not supported", "code": 400}}
        else:
            self.asked.append(body)
            return self.refusals.pop(0) if self.refusals else None
        return None

    def steps(self, body: dict[str, Any]) -> list[dict[str, Any] | bytes | float | str]:
        """The warm-up's word, the trial's reply, or the script."""
        if body["max_tokens"] == 1:
            return [says("Blue"), ends("length"), DONE]
        if _is_trial(body):
            return [says('{"colour": "blue"}' if self.obeys else "The sky is blue."), ends(), DONE]
        return self.script

    def framed(self, event: dict[str, Any]) -> bytes:
        """One event."""
        return b"data: " + json.dumps(event).encode() + b"\n\n"


def openai_server() -> AbstractAsyncContextManager[OpenAIServer]:
    """A running server without a script yet."""
    return scripted(OpenAIServer())


def _is_trial(body: dict[str, Any]) -> bool:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return list(schema.get("properties", ())) == ["colour"]
