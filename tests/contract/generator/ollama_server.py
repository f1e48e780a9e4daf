"""A small HTTP server that speaks Ollama's wire format as recorded, by script."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.contract.generator.scripted_server import ScriptedServer, scripted

MODEL = "smollm2:135m"


def said(text: str) -> dict[str, Any]:
    """A line of a stream."""
    return {
        "model": MODEL, "created_at": "2026-11-29T20:10:12.567078761Z",
        "message": {"role": "assistant", "content": text}, "done": False,
    }  # fmt: skip


def finished(reason: str = "stop") -> dict[str, Any]:
    """The last line of a stream."""
    counts = {"total_duration": 6210733435, "load_duration": 9678709, "prompt_eval_count": 40,
              "prompt_eval_duration": 1904890000, "eval_count": 8, "eval_duration": 4276504000}  # fmt: skip
    return {**said(""), "done": True, "done_reason": reason, **counts}


class OllamaServer(ScriptedServer):
    """/api/chat plays the script, /api/show knows ``models``; no messages load the model, which takes ``load_s``.

    A question with a schema is answered with the next of ``replies``, if there is one. The writer's trial, told by
    its schema, is no question: it is kept in ``tried`` and gets what it wants, or prose where ``obeys`` is False.
    """

    content_type = "application/x-ndjson"

    def __init__(self) -> None:
        super().__init__()
        self.models = [MODEL]
        self.status = 200
        self.load_s = 0.0
        self.load_status = 200
        self.loads: list[dict[str, Any]] = []
        self.obeys = True
        self.tried: list[dict[str, Any]] = []
        self.replies: list[str] = []
        self.instead: tuple[int, Any] | None = None

    async def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any] | None:
        """Ollama's two doors that the writer uses; ``instead`` of all of it, what another server would say."""
        if self.instead:
            return self.instead
        if body.get("model") not in self.models:
            return 404, {"error": f"model '{body.get('model')}' not found"}
        if path == "/api/show":
            return 200, {"template": "{{ .Prompt }}", "capabilities": ["completion"], "details": {}, "model_info": {}}
        if not body["messages"]:
            self.loads.append(body)
            await asyncio.sleep(self.load_s)
            if self.load_status != 200:
                return self.load_status, {"error": "model requires more system memory (9.1 GiB) than is available"}
            return 200, {**said(""), "done": True, "done_reason": "load"}
        if _is_trial(body):
            self.tried.append(body)
            return None
        self.asked.append(body)
        if self.status != 200:
            return self.status, {"error": "llama runner process has terminated"}
        return None

    def steps(self, body: dict[str, Any]) -> list[dict[str, Any] | bytes | float | str]:
        """The trial's reply, the next of the replies, or the script."""
        if _is_trial(body):
            return [said('{"colour": "blue"}' if self.obeys else "The sky is blue."), finished()]
        if "format" in body and self.replies:
            return [said(self.replies.pop(0)), finished()]
        return self.script

    def framed(self, event: dict[str, Any]) -> bytes:
        """One line of JSON."""
        return json.dumps(event).encode() + b"\n"


def ollama_server() -> AbstractAsyncContextManager[OllamaServer]:
    """A running server without a script yet."""
    return scripted(OllamaServer())


def _is_trial(body: dict[str, Any]) -> bool:
    return list(body.get("format", {}).get("properties", ())) == ["colour"]
