"""From settings to a generator that works."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.generator.adapters.ollama_writer import OllamaWriter
from services.generator.adapters.openai_writer import OpenAIWriter
from services.generator.adapters.redis_budget import RedisBudget
from services.generator.adapters.retriever_scorer import RetrieverScorer
from services.generator.flow.decompose import DecomposeFlow
from services.generator.flow.lookout import Lookout
from services.generator.flow.write import EXTRACTIVE, WriteFlow
from services.generator.settings import GeneratorSettings
from services.shared.contracts.answers import WriterModel
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.contracts.ways import WriterInUse
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings, ServiceSettings

log = get_logger(__name__)

DEFAULT_OLLAMA = "http://127.0.0.1:11434"
DEFAULT_OPENAI = "http://127.0.0.1:8080"
"""Where a server is sought when no address is set: Ollama's usual port, and llama.cpp's."""

VERBATIM = "extractive: sentences of the documents, word for word"

ModelWriter = OllamaWriter | OpenAIWriter


@dataclass(frozen=True)
class Choice:
    """The writer that the settings ask for, None for the extractive one alone, and what made it so."""

    writer: ModelWriter | None
    why: str


@dataclass(frozen=True)
class Generator:
    """The parts of a running generator."""

    flow: WriteFlow
    decomposing: DecomposeFlow
    scorer: RetrieverScorer
    choice: Choice
    lookout: Lookout | None
    demanded: bool
    """The operator wants the model and nothing else: its absence is a fault, not a choice."""
    deciding: str
    """Stands for the settings that decide what is said."""

    async def readiness(self) -> Readiness:
        """Which writer answers, and whether the retriever can be reached."""
        parts = {"writer": self._writer_health(), "retriever": await self.scorer.ready()}
        return Readiness(ready=all(part.ready for part in parts.values()), parts=parts)

    def in_use(self) -> WriterInUse:
        """Who would write now."""
        writer = self.choice.writer
        ready = writer and writer.state().ready
        model = WriterModel(writer=writer.kind, name=writer.name) if writer and ready else EXTRACTIVE
        return WriterInUse(model=model, settings=self.deciding)

    def model_state(self) -> tuple[str, PartHealth, int] | None:
        """The model that is set: its kind, how it is, and the questions with it; None where none is."""
        writer = self.choice.writer
        return None if writer is None else (writer.kind, writer.state(), writer.questions)

    async def warm_up(self) -> PartHealth:
        """Have the model loaded now; what writes then."""
        if self.lookout:
            await self.lookout.warm_up()
        return self._writer_health()

    def _writer_health(self) -> PartHealth:
        writer, why = self.choice.writer, self.choice.why
        if writer is None:
            return PartHealth(ready=True, detail=f"{VERBATIM} ({why})")
        state = writer.state()
        if state.ready:
            return PartHealth(ready=True, detail=f"{writer.kind}: {state.detail} ({why})")
        if not writer.wanted:
            return PartHealth(ready=True, detail=f"{VERBATIM} ({why}, but: {state.detail})")
        return PartHealth(ready=not self.demanded, detail=f"extractive, in place of the model ({why}): {state.detail}")


@contextlib.asynccontextmanager
async def running(
    settings: GeneratorSettings, services: ServiceSettings, redis: RedisSettings
) -> AsyncIterator[Generator]:
    """A generator with its connections and its look-out for the model's server; all are gone afterwards."""
    async with contextlib.AsyncExitStack() as ending:
        client = ServiceClient(
            name="retriever",
            base_url=services.retriever_url,
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=settings.score_timeout_s,
        )
        scorer = RetrieverScorer(client)
        ending.push_async_callback(scorer.close)
        budget = RedisBudget(redis, daily_tokens=settings.daily_tokens)
        ending.push_async_callback(budget.close)
        choice = choose(settings)
        flow = WriteFlow(
            scorer=scorer,
            writer=choice.writer,
            budget=budget,
            threshold=settings.answer_threshold,
            support_threshold=settings.support_threshold,
            grounding_threshold=settings.grounding_threshold,
            silence_s=settings.writer_silence_s,
            note=_note,
        )
        decomposing = DecomposeFlow(
            writer=choice.writer, budget=budget, timeout_s=settings.decompose_timeout_s, note=_note
        )
        lookout = None
        if choice.writer:
            ending.push_async_callback(choice.writer.close)
            lookout = _lookout(choice.writer, settings.writer_probe_s)
            ending.push_async_callback(lookout.end)
            await lookout.begin()
        demanded = settings.writer in ("ollama", "openai")
        yield Generator(flow, decomposing, scorer, choice, lookout, demanded=demanded, deciding=settings.deciding())


def _note(what: str, why: str) -> None:
    log.warning(what, why=why)


def _lookout(writer: ModelWriter, every_s: float) -> Lookout:
    """A look-out that tells the operator what changed."""

    def told(state: PartHealth) -> None:
        log.info("writer_state", writer=writer.kind, ready=state.ready, detail=state.detail)

    return Lookout(writer, every_s=every_s, told=told)


def choose(settings: GeneratorSettings) -> Choice:
    """The writer that is wanted; in doubt the one whose address is set, Ollama first, else what turns up."""
    match settings.writer:
        case "ollama":
            return Choice(_ollama(settings), "as RAGSTONE_WRITER says")
        case "openai":
            return Choice(_openai(settings), "as RAGSTONE_WRITER says")
        case "extractive":
            return Choice(None, "as RAGSTONE_WRITER says")
    if settings.ollama_host:
        return Choice(_ollama(settings), "OLLAMA_HOST is set")
    if settings.openai_url:
        return Choice(_openai(settings), "RAGSTONE_OPENAI_URL is set")
    return Choice(_ollama(settings, wanted=False), "Ollama is looked for at its usual address")


def _ollama(settings: GeneratorSettings, *, wanted: bool = True) -> OllamaWriter:
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
        wanted=wanted,
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
