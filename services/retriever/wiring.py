"""From settings to a working retriever."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from services.retriever.adapters.critic import ShippedCritic
from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.grounder import QueuedGrounder
from services.retriever.adapters.keywords import Bm25Keywords
from services.retriever.adapters.readiness import ReadinessCheck
from services.retriever.adapters.records import CatalogRecords
from services.retriever.adapters.vectors import ChromaVectors
from services.retriever.domain.plan import Switches, Tuning
from services.retriever.flow.ground import ClaimCheck
from services.retriever.flow.retrieve import Retrieval
from services.retriever.flow.score import Scoring
from services.retriever.settings import RetrieverSettings, Settings
from services.shared.catalog.engine import Catalog
from services.shared.models.grounding.grounder import load_grounder
from services.shared.models.loader import LazyEmbedder


@dataclass(frozen=True)
class Retriever:
    """The running service, as its doors see it."""

    retrieval: Retrieval
    scoring: Scoring
    claims: ClaimCheck
    readiness: ReadinessCheck


@asynccontextmanager
async def running(settings: Settings, *, embedder: LazyEmbedder | None = None) -> AsyncIterator[Retriever]:
    """Build everything, load the model in the background, and let go of everything at the end.

    ``embedder`` is one whose loading was begun before.
    """
    own = settings.own
    catalog = Catalog(settings.state.catalog_url)
    records = CatalogRecords(catalog)
    vectors = ChromaVectors(
        catalog, settings.chroma.chroma_url, timeout_s=own.vector_timeout_s, open_limit=own.open_spaces
    )
    keywords = Bm25Keywords(catalog, settings.snapshot_dir, open_limit=own.open_spaces)
    lazy = embedder or LazyEmbedder(settings.embedder)
    model = QueuedEmbedder(
        lazy,
        waiting_limit=own.embed_waiting,
        batch=settings.embedder.embed_batch,
    )
    grounder = QueuedGrounder(partial(load_grounder, lazy), waiting_limit=own.embed_waiting)
    retrieval = Retrieval(
        records=records,
        embedder=model,
        vectors=vectors,
        keywords=keywords,
        critic=ShippedCritic(keywords),
        tuning=tuning_of(own),
        clock=time.perf_counter,
    )
    readiness = ReadinessCheck(model, records, vectors)
    model.start()
    grounder.start()
    preparing = asyncio.create_task(readiness.prepare())
    try:
        yield Retriever(retrieval, Scoring(embedder=model, keywords=keywords), ClaimCheck(grounder), readiness)
    finally:
        preparing.cancel()
        with suppress(asyncio.CancelledError):
            await preparing
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
