"""From settings to a generator that works."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.generator.adapters.ollama_writer import OllamaWriter
from services.generator.adapters.openai_writer import OpenAIWriter
from services.generator.adapters.retriever_scorer import RetrieverScorer
from services.generator.flow.write import WriteFlow
from services.generator.settings import GeneratorSettings
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import ServiceSettings

log = get_logger(__name__)

DEFAULT_OLLAMA = "http://127.0.0.1:11434"
DEFAULT_OPENAI = "http://127.0.0.1:8080"
"""Where a server is sought when it is demanded but no address is set: Ollama's usual port, and llama.cpp's."""

ModelWriter = OllamaWriter | OpenAIWriter


@dataclass(frozen=True)
class Generator:
    """The parts of a running generator."""

    flow: WriteFlow
    scorer: RetrieverScorer
    writer: ModelWriter | None
    demanded: bool
    """The operator wants the model and nothing else: its absence is a fault, not a choice."""

    async def readiness(self) -> Readiness:
        """Which writer answers, and whether the retriever can be reached."""
        parts = {"writer": self._writer_health(), "retriever": await self.scorer.ready()}
        return Readiness(ready=all(part.ready for part in parts.values()), parts=parts)

    def _writer_health(self) -> PartHealth:
        if self.writer is None:
            return PartHealth(ready=True, detail="extractive: sentences of the documents, word for word")
        state = self.writer.state()
        if state.ready:
            return PartHealth(ready=True, detail=f"{self.writer.kind}: {state.detail}")
        return PartHealth(ready=not self.demanded, detail=f"extractive, in place of the model: {state.detail}")


@contextlib.asynccontextmanager
async def running(settings: GeneratorSettings, services: ServiceSettings) -> AsyncIterator[Generator]:
    """A generator with its connections and its look-out for the model's server; all are gone afterwards."""
    client = ServiceClient(
        name="retriever",
        base_url=services.retriever_url,
        unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
        timeout_s=settings.score_timeout_s,
    )
    scorer = RetrieverScorer(client)
    writer = _writer(settings)
    flow = WriteFlow(
        scorer=scorer,
        writer=writer,
        threshold=settings.answer_threshold,
        support_threshold=settings.support_threshold,
        note=lambda what, why: log.warning(what, why=why),
    )
    lookout = None
    if writer:
        await _look(writer)
        lookout = asyncio.create_task(_look_out(writer, settings.writer_probe_s))
    try:
        yield Generator(flow, scorer, writer, demanded=settings.writer in ("ollama", "openai"))
    finally:
        if lookout:
            lookout.cancel()
            await asyncio.gather(lookout, return_exceptions=True)
        if writer:
            await writer.close()
        await scorer.close()


async def _look(writer: ModelWriter) -> None:
    """One look; what changed is told to the operator."""
    before = writer.state()
    await writer.probe()
    if (after := writer.state()) != before:
        log.info("writer_state", writer=writer.kind, ready=after.ready, detail=after.detail)


async def _look_out(writer: ModelWriter, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        await _look(writer)


def _writer(settings: GeneratorSettings) -> ModelWriter | None:
    """The writer that is wanted; in doubt the one whose address is set, Ollama first."""
    kind = settings.writer
    if kind == "auto":
        kind = "ollama" if settings.ollama_host else "openai" if settings.openai_url else "extractive"
    match kind:
        case "ollama":
            return _ollama(settings)
        case "openai":
            return _openai(settings)
        case _:
            return None


def _ollama(settings: GeneratorSettings) -> OllamaWriter:
    return OllamaWriter(
        host=settings.ollama_host or DEFAULT_OLLAMA,
        model=settings.ollama_model,
        num_ctx=settings.num_ctx,
        num_predict=settings.num_predict,
        temperature=settings.temperature,
        keep_alive=settings.ollama_keep_alive,
        cold_timeout_s=settings.writer_cold_timeout_s,
        idle_timeout_s=settings.writer_idle_timeout_s,
        parallel=settings.writer_parallel,
        waiting=settings.writer_waiting,
    )


def _openai(settings: GeneratorSettings) -> OpenAIWriter:
    key = settings.openai_api_key
    return OpenAIWriter(
        url=settings.openai_url or DEFAULT_OPENAI,
        model=settings.openai_model or None,
        api_key=key.get_secret_value() if key else None,
        num_ctx=settings.num_ctx,
        num_predict=settings.num_predict,
        temperature=settings.temperature,
        cold_timeout_s=settings.writer_cold_timeout_s,
        idle_timeout_s=settings.writer_idle_timeout_s,
        parallel=settings.writer_parallel,
        waiting=settings.writer_waiting,
    )
