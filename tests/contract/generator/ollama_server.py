"""A small HTTP server that speaks Ollama's wire format as recorded, by script."""

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
    """/api/chat plays the script, /api/show knows ``models``."""

    content_type = "application/x-ndjson"

    def __init__(self) -> None:
        super().__init__()
        self.models = [MODEL]
        self.status = 200

    async def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any] | None:
        """Ollama's two doors that the writer uses."""
        if body.get("model") not in self.models:
            return 404, {"error": f"model '{body.get('model')}' not found"}
        if path == "/api/show":
            return 200, {"template": "{{ .Prompt }}", "capabilities": ["completion"], "details": {}, "model_info": {}}
        self.asked.append(body)
        if self.status != 200:
            return self.status, {"error": "llama runner process has terminated"}
        return None

    def framed(self, event: dict[str, Any]) -> bytes:
        """One line of JSON."""
        return json.dumps(event).encode() + b"\n"


def ollama_server() -> AbstractAsyncContextManager[OllamaServer]:
    """A running server without a script yet."""
    return scripted(OllamaServer())
