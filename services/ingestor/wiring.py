"""Builds the worker and the reconciler from settings."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from celery.exceptions import SoftTimeLimitExceeded

from services.ingestor.adapters.archives import ArchiveLimits
from services.ingestor.adapters.background import made_ahead, one_behind
from services.ingestor.adapters.batch_ledger import CatalogBatchLedger
from services.ingestor.adapters.bell import PatientBell
from services.ingestor.adapters.calibrations import CatalogCalibrationContent, CatalogCalibrations
from services.ingestor.adapters.embedder import ModelEmbedders
from services.ingestor.adapters.evaluations import CatalogEvaluations
from services.ingestor.adapters.gateway import GatewayAsClient
from services.ingestor.adapters.golden_content import CatalogGoldenContent
from services.ingestor.adapters.housekeeping import CatalogHousekeeping
from services.ingestor.adapters.index_vectors import ChromaSecondVectors
from services.ingestor.adapters.indexes import CatalogComparisonContent, CatalogSecondIndexes
from services.ingestor.adapters.judge import HttpJudge
from services.ingestor.adapters.keyword_index import SavedKeywords
from services.ingestor.adapters.languages import Languages
from services.ingestor.adapters.ledger import CatalogLedger
from services.ingestor.adapters.likeness import EmbeddedLikeness
from services.ingestor.adapters.originals import BlobOriginals
from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from services.ingestor.adapters.rankings import RetrieverRankings
from services.ingestor.adapters.retriever import Retriever
from services.ingestor.adapters.rounds import Step
from services.ingestor.adapters.stored_vectors import ChromaStoredVectors
from services.ingestor.adapters.traces import StoredTraces
from services.ingestor.adapters.vectors import ChromaVectors
from services.ingestor.flow.examine import Examination
from services.ingestor.flow.reconcile import Reconciler
from services.ingestor.flow.work import Worker
from services.ingestor.ports.calibration import CalibrationTools
from services.ingestor.ports.content import Embedder
from services.ingestor.ports.evaluation import EvaluationTools
from services.ingestor.ports.reembedding import ReembeddingTools
from services.ingestor.ports.tools import Rules, Tools
from services.ingestor.settings import IngestorSettings
from services.shared.catalog.blob_store import blob_store
from services.shared.catalog.engine import Catalog
from services.shared.catalog.holding import Heartbeats
from services.shared.catalog.index_rows import WantedEmbedder
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.kit.events import JobEventSender
from services.shared.kit.owner import this_process
from services.shared.kit.queue import impatient_bell
from services.shared.kit.remembered import AnswerEraser
from services.shared.kit.version import product_version
from services.shared.models.backends import Use
from services.shared.models.embedders import Embedders


def now() -> datetime:
    """The time that goes into the catalog."""
    return datetime.now(UTC)


@cache
def worker() -> Worker:
    """This process's worker. Called in a child process at its first task, so that nothing is shared over a fork."""
    settings = IngestorSettings()
    catalog = Catalog(settings.state.catalog_url)
    return Worker(tools(settings, catalog, Embedders(settings.embedder, Use.DOCUMENTS)))


def tools(settings: IngestorSettings, catalog: Catalog, models: Embedders) -> Tools:
    """What the flows work with."""
    owner, lease_s, work = this_process(), settings.jobs.lease_s, settings.work
    events = JobEventSender(settings.redis)
    embedders = ModelEmbedders(models, SoftTimeLimitExceeded)
    limits, languages = parse_limits(settings), Languages()
    return Tools(
        ledger=CatalogLedger(catalog, events, owner, lease_s, now, settings.jobs.max_attempts),
        batches=CatalogBatchLedger(catalog, events, owner, lease_s, now),
        leases=Heartbeats(catalog, owner, lease_s, now),
        originals=BlobOriginals(blob_store(settings.state)),
        parsers=SandboxedParsers(limits, languages.language_of),
        slow_parsers=SandboxedParsers(replace(limits, documents=1), languages.language_of),
        embedders=embedders,
        vectors=ChromaVectors(settings.chroma.chroma_url, catalog, embedders.first, now),
        bell=_bell(settings),
        evaluation=evaluation_tools(settings, catalog, embedders.configured()),
        calibration=CalibrationTools(
            finder=Retriever(settings.services.retriever_url, work.ask_timeout_s),
            content=CatalogCalibrationContent(catalog),
            records=CatalogCalibrations(catalog),
            now=now,
        ),
        reembedding=reembedding_tools(settings, catalog, models, owner),
        traces=StoredTraces(
            catalog, blob_store(settings.state), AnswerEraser(settings.redis), settings.services.retriever_url, now
        ),
        one_behind=one_behind,
        ahead=made_ahead,
        clock=time.monotonic,
        rules=Rules(
            chunk_words=work.chunk_words,
            max_chunks=work.max_chunks,
            max_document_bytes=work.max_document_bytes,
            group_jobs=work.group_jobs,
            group_documents=work.group_documents,
            group_chunks=work.group_chunks,
            # A task ends well before its limit: documents that come first, then a slice, then the last group.
            time_slice_s=min(work.time_slice_s, settings.jobs.job_time_limit_s / 4),
            time_limit_s=settings.jobs.job_time_limit_s,
            max_attempts=settings.jobs.max_attempts,
            parse_first_s=settings.parse.parse_first_s,
        ),
        time_up=SoftTimeLimitExceeded,
    )


def reembedding_tools(settings: IngestorSettings, catalog: Catalog, models: Embedders, owner: str) -> ReembeddingTools:
    """What builds indexes beside the serving one."""

    def load(wanted: WantedEmbedder) -> EmbedderSpec:
        return models.new(wanted.name, wanted.query_prompt, wanted.document_prompt).spec

    return ReembeddingTools(
        records=CatalogSecondIndexes(catalog, JobEventSender(settings.redis), owner, load, now),
        vectors=ChromaSecondVectors(settings.chroma.chroma_url, catalog, _chroma_folder(settings)),
        rankings=RetrieverRankings(settings.services.retriever_url, settings.work.ask_timeout_s),
        content=CatalogComparisonContent(catalog),
    )


def parse_limits(settings: IngestorSettings) -> ParseLimits:
    """What the process that reads files may use up."""
    table = settings.parse
    return ParseLimits(
        document_bytes=settings.work.max_document_bytes,
        text_bytes=table.max_text_bytes,
        seconds=table.parse_timeout_s,
        memory_bytes=table.parse_memory_bytes,
        documents=table.parse_documents_per_process,
        archives=ArchiveLimits(
            entries=table.archive_max_entries,
            inflated_bytes=table.archive_max_bytes,
            ratio=table.archive_max_ratio,
            depth=table.archive_max_depth,
        ),
    )


def evaluation_tools(settings: IngestorSettings, catalog: Catalog, embedder: Embedder) -> EvaluationTools:
    """What the evaluating flows work with, beside the worker's own tools."""
    table = settings.judge
    judge = None
    if table.judge_url:
        judge = HttpJudge(
            url=table.judge_url,
            model=table.judge_model,
            timeout_s=table.judge_timeout_s,
            max_tokens=table.judge_max_tokens,
        )
    return EvaluationTools(
        records=CatalogEvaluations(catalog),
        system=GatewayAsClient(settings.services.gateway_url, settings.work.ask_timeout_s, catalog),
        judge=judge,
        likeness=EmbeddedLikeness(embedder),
        content=CatalogGoldenContent(catalog, now),
        described={"version": product_version(), "embedder": settings.embedder.embedder},
    )


def housekeeping(settings: IngestorSettings, catalog: Catalog) -> CatalogHousekeeping:
    """The catalog as the reconciler and an examination see it."""
    table = settings.reconciler
    return CatalogHousekeeping(
        catalog,
        blob_store(settings.state),
        JobEventSender(settings.redis),
        now,
        max_attempts=settings.jobs.max_attempts,
        ring_after_s=table.ring_after_s,
        stale_after_s=table.sweep_grace_s,
        blob_grace_s=table.blob_grace_s,
        keep_jobs_days=table.keep_jobs_days,
        keep_copies_days=table.keep_copies_days,
        answer_keep_s=table.answer_keep_s,
        gaps_keep_days=table.gaps_keep_days,
        calibrate_again_share=settings.jobs.calibrate_again_share,
    )


def examination(settings: IngestorSettings, *, repair: bool) -> Examination:
    """One look over all stores, for the person who asks for it."""
    catalog = Catalog(settings.state.catalog_url)
    return Examination(
        housekeeping(settings, catalog),
        ChromaStoredVectors(settings.chroma.chroma_url, catalog, _chroma_folder(settings)),
        SavedKeywords(catalog, settings.state.state_dir / "bm25"),
        _bell(settings),
        repair=repair,
    )


def reconciler_steps(settings: IngestorSettings) -> list[Step]:
    """The reconciler's steps, each at its own pace. It needs no model, and never loads one."""
    catalog = Catalog(settings.state.catalog_url)
    table = settings.reconciler
    flow = Reconciler(
        housekeeping(settings, catalog),
        ChromaStoredVectors(settings.chroma.chroma_url, catalog, _chroma_folder(settings)),
        _bell(settings),
        time.monotonic,
        sweep_grace_s=table.sweep_grace_s,
        mend_grace_s=table.mend_grace_s,
    )
    return [
        Step("take_back", table.reconcile_every_s, flow.take_back),
        Step("ring_again", table.reconcile_every_s, flow.ring_again),
        Step("look_for_lost_vectors", table.mend_every_s, flow.look_for_lost_vectors),
        Step("mend_vectors", table.reconcile_every_s, flow.mend_vectors),
        Step("set_right", table.mend_every_s, flow.set_right),
        Step("follow_changes", table.reconcile_every_s, flow.follow_changes),
        Step("remove_retired", table.mend_every_s, flow.remove_retired),
        Step("sweep_vectors", table.sweep_every_s, flow.sweep_vectors),
        Step("calibrate_again", table.sweep_every_s, flow.calibrate_again),
        Step("sweep_catalog", table.sweep_every_s, flow.sweep_catalog),
    ]


def migrate(settings: IngestorSettings) -> None:
    """Bring the catalog to this release, in whichever process comes first."""
    catalog = Catalog(settings.state.catalog_url)
    catalog.migrate()
    catalog.close()


def _bell(settings: IngestorSettings) -> PatientBell:
    return PatientBell(impatient_bell(settings.redis, settings.jobs))


def _chroma_folder(settings: IngestorSettings) -> Path:
    return settings.chroma.chroma_dir or settings.state.state_dir / "chroma"
