"""Ollama's wire format in front of llama.cpp's own server, so that a real model speaks it: the nearest thing to Ollama.

python -m benchmarks.ollama_facade FILE.gguf --name smollm2:135m --port 11434

Held to recordings of a real Ollama: what it streams, counts, enforces and refuses, and that no messages load a model
while ``keep_alive`` 0 unloads it. The model is loaded at the first question, and again for another ``num_ctx``.
What it leaves out: pulling, embedding, and the silent cut of a prompt beyond the window (it is refused instead).
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

ROOT = Path(__file__).parents[1]
NDJSON = "application/x-ndjson"
DEFAULT_CTX = 4096


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


class Runner:
    """The process that holds the model, while one does."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._process: asyncio.subprocess.Process | None = None
        self._ctx = 0
        self._lock = asyncio.Lock()
        self.url = ""
        self.loads = 0

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._process is not None and self._process.returncode is None

    async def load(self, ctx: int) -> int:
        """Have the model in memory with this window; how long that took, nanoseconds."""
        began = time.perf_counter_ns()
        async with self._lock:
            if not self.loaded or self._ctx != ctx:
                await self.unload()
                command = ["-m", "benchmarks.model_server", str(self._file), "--ctx", str(ctx), "--alias", "model"]
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
                )
                assert self._process.stdout
                found = re.search(rb"(http://\S+)$", (await self._process.stdout.readline()).strip())
                if not found:
                    raise Refusal(500, "llama runner process has terminated")
                self.url, self._ctx = found[1].decode(), ctx
                self.loads += 1
        return time.perf_counter_ns() - began

    async def unload(self) -> None:
        """Give the memory back."""
        if self._process and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()


def facade(file: Path, name: str) -> FastAPI:
    """The app; ``app.state.runner`` is the process behind it."""
    runner = Runner(file)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
            app.state.client = client
            yield
        await runner.unload()

    app = FastAPI(lifespan=lifespan)
    app.state.runner = runner

    @app.api_route("/", methods=["GET", "HEAD"])
    async def alive() -> Response:
        return PlainTextResponse("Ollama is running")

    @app.get("/api/version")
    async def version() -> Response:
        return JSONResponse({"version": "0.0.0"})

    @app.get("/api/tags")
    async def tags() -> Response:
        return JSONResponse({"models": [_described(name)]})

    @app.get("/api/ps")
    async def ps() -> Response:
        until = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
        return JSONResponse({"models": [{**_described(name), "expires_at": until}] if runner.loaded else []})

    @app.post("/api/show")
    async def show(request: Request) -> Response:
        try:
            body = await _body(request, name, tagged=True)
        except Refusal as refusal:
            return _refused(refusal)
        shown = {"template": "{{ .Prompt }}", "details": {"format": "gguf"}, "capabilities": ["completion"]}
        return JSONResponse({**shown, "modelfile": f"FROM {body['model']}", "model_info": {}})

    @app.post("/api/chat")
    async def chat(request: Request) -> Response:
        try:
            return await _chat(await _body(request, name), runner, request.app.state.client)
        except Refusal as refusal:
            return _refused(refusal)

    return app


async def _body(request: Request, name: str, *, tagged: bool = False) -> dict[str, Any]:
    try:
        body: dict[str, Any] = json.loads(await request.body())
    except ValueError:
        raise Refusal(400, "invalid character 'n' looking for beginning of object key string") from None
    asked = body.get("model")
    if not asked:
        raise Refusal(400, "model is required")
    if asked != name:
        tag = ":latest" if tagged and ":" not in asked else ""
        raise Refusal(404, f"model '{asked}{tag}' not found")
    return body


async def _chat(body: dict[str, Any], runner: Runner, client: httpx.AsyncClient) -> Response:
    asked = _upstream(body)
    options = body.get("options") or {}
    if not body.get("messages"):
        if body.get("keep_alive") == 0:
            await runner.unload()
            return JSONResponse(_line(body, done=True, done_reason="unload"))
        await runner.load(options.get("num_ctx", DEFAULT_CTX))
        return JSONResponse(_line(body, done=True, done_reason="load"))
    began = time.perf_counter_ns()
    load_ns = await runner.load(options.get("num_ctx", DEFAULT_CTX))
    sent = client.build_request("POST", f"{runner.url}/v1/chat/completions", json=asked)
    received = await client.send(sent, stream=True)
    if received.status_code != 200:
        told = (await received.aread()).decode()
        await received.aclose()
        raise Refusal(received.status_code, told)
    lines = _lines(body, received, began, load_ns)
    if body.get("stream", True):
        return StreamingResponse(lines, media_type=NDJSON)
    said = [json.loads(line) async for line in lines]
    return JSONResponse({**said[-1], **_line(body, "".join(one["message"]["content"] for one in said), done=True)})


def _upstream(body: dict[str, Any]) -> dict[str, Any]:
    """The same question for llama.cpp; raises Refusal for what Ollama refuses."""
    options, form = body.get("options") or {}, body.get("format")
    temperature = options.get("temperature", 0.8)
    if not isinstance(temperature, int | float):
        raise Refusal(500, 'option "temperature" must be of type float32')
    if body.get("think"):
        raise Refusal(400, f'"{body["model"]}" does not support thinking')
    asked = {
        "messages": body.get("messages"), "stream": True, "temperature": temperature, "seed": options.get("seed", -1),
        "max_tokens": options.get("num_predict", -1),
    }  # fmt: skip
    if isinstance(form, dict):
        asked["response_format"] = {"type": "json_schema", "json_schema": {"schema": form}}
    elif form not in (None, "", "json"):  # "json" is taken and, on this door, not enforced
        quoted = json.dumps(json.dumps(form))
        raise Refusal(500, f'invalid format: {quoted}; expected "json" or a valid JSON Schema object')
    return asked


async def _lines(body: dict[str, Any], received: httpx.Response, began: int, load_ns: int) -> AsyncIterator[str]:
    """llama.cpp's events as Ollama's lines; leaving closes the connection behind, which stops the model."""
    try:
        async for event in received.aiter_lines():
            if not event.startswith("data: {"):
                continue
            told = json.loads(event[6:])
            if "error" in told:
                yield json.dumps({"error": told["error"]["message"]}) + "\n"
                return
            choice = told["choices"][0]
            if text := choice["delta"].get("content"):
                yield json.dumps(_line(body, text, done=False)) + "\n"
            if choice["finish_reason"]:
                timings = told["timings"]
                counts = {
                    "total_duration": time.perf_counter_ns() - began, "load_duration": load_ns,
                    "prompt_eval_count": timings["cache_n"] + timings["prompt_n"],
                    "prompt_eval_duration": int(1e6 * timings["prompt_ms"]), "eval_count": timings["predicted_n"],
                    "eval_duration": int(1e6 * timings["predicted_ms"]),
                }  # fmt: skip
                yield json.dumps({**_line(body, done=True, done_reason=choice["finish_reason"]), **counts}) + "\n"
                return
    except httpx.HTTPError:
        yield json.dumps({"error": "an error was encountered while running the model"}) + "\n"
    finally:
        await received.aclose()


def _line(body: dict[str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"model": body["model"], "created_at": datetime.now(UTC).isoformat(), "message": message, **more}


def _described(name: str) -> dict[str, Any]:
    return {"name": name, "model": name, "details": {"format": "gguf"}, "capabilities": ["completion"]}


def _refused(refusal: Refusal) -> Response:
    return JSONResponse({"error": refusal.error}, status_code=refusal.status)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE.gguf")
    parser.add_argument("--name", default="smollm2:135m")
    parser.add_argument("--port", type=int, default=11434)
    options = parser.parse_args()
    uvicorn.run(facade(options.file, options.name), host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
