"""From settings to a working retriever."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from services.retriever.adapters.ahead import LoadedAhead
from services.retriever.adapters.critic import ShippedCritic
from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.forgetting import IndexMemory
from services.retriever.adapters.grounder import QueuedGrounder
from services.retriever.adapters.keywords import Bm25Keywords
from services.retriever.adapters.metrics import RetrieverMetrics
from services.retriever.adapters.readiness import ReadinessCheck
from services.retriever.adapters.records import CatalogRecords
from services.retriever.adapters.vectors import ChromaVectors
from services.retriever.adapters.warming import Warming
from services.retriever.domain.plan import Switches, Tuning
from services.retriever.flow.forget import Forgetting
from services.retriever.flow.ground import ClaimCheck
from services.retriever.flow.retrieve import Retrieval
from services.retriever.flow.score import Scoring
from services.retriever.settings import RetrieverSettings, Settings
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.tracing import step
from services.shared.models.embedders import Embedders
from services.shared.models.grounding.grounder import load_grounder, wanted_model


@dataclass(frozen=True)
class Retriever:
    """The running service, as its doors see it."""

    retrieval: Retrieval
    scoring: Scoring
    claims: ClaimCheck
    forgetting: Forgetting
    readiness: ReadinessCheck
    tuning: str
    """Stands for the settings that decide about passages."""
    warming: Warming


def refuse_newer_catalog(settings: Settings) -> None:
    """Raises RagstoneError (catalog_newer). A catalog that does not answer yet is waited for once the service runs."""
    try:
        catalog = Catalog(settings.state.catalog_url)
        try:
            catalog.refuse_newer()
        finally:
            catalog.close()
    except RagstoneError as error:
        if error.code is ErrorCode.CATALOG_NEWER:
            raise


@asynccontextmanager
async def running(
    settings: Settings, metrics: RetrieverMetrics, *, embedders: Embedders | None = None
) -> AsyncIterator[Retriever]:
    """Build everything, load the models in the background, and let go of everything at the end.

    ``embedders`` are some whose loading was begun before.
    """
    own = settings.own
    catalog = Catalog(settings.state.catalog_url)
    records = CatalogRecords(catalog)
    vectors = ChromaVectors(
        catalog, settings.chroma.chroma_url, timeout_s=own.vector_timeout_s, open_limit=own.open_spaces
    )
    keywords = Bm25Keywords(catalog, settings.snapshot_dir, open_limit=own.open_spaces)
    memory = IndexMemory(catalog, settings.chroma.chroma_url, keywords, vectors, timeout_s=own.vector_timeout_s)
    models = embedders or Embedders(settings.embedder, kept=own.embedders_kept)
    model = QueuedEmbedder(models, waiting_limit=own.embed_waiting, batch=settings.embedder.embed_batch)
    grounder = QueuedGrounder(partial(load_grounder, models), waiting_limit=own.embed_waiting)
    tuning = tuning_of(own)
    retrieval = Retrieval(
        records=records,
        embedder=model,
        vectors=vectors,
        keywords=keywords,
        critic=ShippedCritic(keywords),
        tuning=tuning,
        clock=time.perf_counter,
        step=step,
    )
    readiness = ReadinessCheck(model, settings.embedder, records, vectors)
    model.start()
    grounder.start()
    metrics.watch(models, model, grounder)
    ahead = LoadedAhead(model, models, records, claims_model=wanted_model())
    beside = [
        asyncio.create_task(readiness.prepare()),
        asyncio.create_task(memory.follow(settings.snapshot_dir, own.follow_every_s)),
        asyncio.create_task(ahead.run()),
    ]
    try:
        yield Retriever(
            retrieval,
            Scoring(records=records, embedder=model, keywords=keywords),
            ClaimCheck(grounder),
            Forgetting(memory),
            readiness,
            tuning.deciding(),
            Warming(ahead, grounder, readiness),
        )
    finally:
        for task in beside:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(grounder.close)
        await asyncio.to_thread(model.close)
        await asyncio.to_thread(keywords.close)
        catalog.close()


def tuning_of(own: RetrieverSettings) -> Tuning:
    """The settings that decide about passages."""
    return Tuning(
        switches=Switches(
            vector=own.stage_vector,
            bm25=own.stage_bm25,
            gate=own.stage_gate,
            critic=own.stage_critic,
            diversity=own.stage_diversity,
        ),
        fusion=own.fusion,
        gate_distance=own.gate_distance,
        gate_coverage=own.gate_coverage,
        bm25_floor=own.bm25_floor,
        critic_cut=own.critic_cut,
        answerable=own.answerable,
    )
