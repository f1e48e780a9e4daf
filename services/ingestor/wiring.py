"""Builds the worker and the reconciler from settings."""

import time
from datetime import UTC, datetime
from functools import cache

from celery.exceptions import SoftTimeLimitExceeded

from services.ingestor.adapters.background import one_behind
from services.ingestor.adapters.batch_ledger import CatalogBatchLedger
from services.ingestor.adapters.bell import PatientBell
from services.ingestor.adapters.calibrations import CatalogCalibrationContent, CatalogCalibrations
from services.ingestor.adapters.embedder import ModelEmbedder
from services.ingestor.adapters.evaluations import CatalogEvaluations
from services.ingestor.adapters.gateway import GatewayAsClient
from services.ingestor.adapters.golden_content import CatalogGoldenContent
from services.ingestor.adapters.housekeeping import CatalogHousekeeping
from services.ingestor.adapters.judge import HttpJudge
from services.ingestor.adapters.languages import Languages
from services.ingestor.adapters.leases import Heartbeats
from services.ingestor.adapters.ledger import CatalogLedger
from services.ingestor.adapters.likeness import EmbeddedLikeness
from services.ingestor.adapters.originals import BlobOriginals
from services.ingestor.adapters.owner import this_process
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.adapters.retriever import Retriever
from services.ingestor.adapters.rounds import Step
from services.ingestor.adapters.vectors import ChromaVectors
from services.ingestor.flow.reconcile import Reconciler
from services.ingestor.flow.work import Worker
from services.ingestor.ports.calibration import CalibrationTools
from services.ingestor.ports.content import Embedder
from services.ingestor.ports.evaluation import EvaluationTools
from services.ingestor.ports.tools import Rules, Tools
from services.ingestor.settings import IngestorSettings
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.kit.events import JobEventSender
from services.shared.kit.queue import impatient_bell
from services.shared.kit.version import product_version
from services.shared.models.backends import Use
from services.shared.models.loader import LazyEmbedder


def now() -> datetime:
    """The time that goes into the catalog."""
    return datetime.now(UTC)


@cache
def worker() -> Worker:
    """This process's worker. Called in a child process at its first task, so that nothing is shared over a fork."""
    settings = IngestorSettings()
    catalog = Catalog(settings.state.catalog_url)
    lazy = LazyEmbedder(settings.embedder, Use.DOCUMENTS)
    return Worker(tools(settings, catalog, lazy))


def tools(settings: IngestorSettings, catalog: Catalog, lazy: LazyEmbedder) -> Tools:
    """What the flows work with."""
    owner, lease_s, work = this_process(), settings.jobs.lease_s, settings.work
    events = JobEventSender(settings.redis)
    embedder = ModelEmbedder(lazy, SoftTimeLimitExceeded)
    return Tools(
        ledger=CatalogLedger(catalog, events, owner, lease_s, now, settings.jobs.max_attempts),
        batches=CatalogBatchLedger(catalog, events, owner, lease_s, now),
        leases=Heartbeats(catalog, owner, lease_s, now),
        originals=BlobOriginals(Blobs(settings.state.blob_dir)),
        parsers=FileParsers(work.max_document_bytes, SoftTimeLimitExceeded, Languages().language_of),
        embedder=embedder,
        vectors=ChromaVectors(settings.chroma.chroma_url, catalog, lambda: lazy.get().spec, now),
        bell=_bell(settings),
        evaluation=evaluation_tools(settings, catalog, embedder),
        calibration=CalibrationTools(
            finder=Retriever(settings.services.retriever_url, work.ask_timeout_s),
            content=CatalogCalibrationContent(catalog),
            records=CatalogCalibrations(catalog),
            now=now,
        ),
        one_behind=one_behind,
        clock=time.monotonic,
        rules=Rules(
            chunk_words=work.chunk_words,
            max_chunks=work.max_chunks,
            max_document_bytes=work.max_document_bytes,
            group_jobs=work.group_jobs,
            group_documents=work.group_documents,
            group_chunks=work.group_chunks,
            time_slice_s=work.time_slice_s,
            max_attempts=settings.jobs.max_attempts,
        ),
        time_up=SoftTimeLimitExceeded,
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
        system=GatewayAsClient(settings.services.gateway_url, settings.work.ask_timeout_s),
        judge=judge,
        likeness=EmbeddedLikeness(embedder),
        content=CatalogGoldenContent(catalog, now),
        described={"version": product_version(), "embedder": settings.embedder.embedder},
    )


def reconciler_steps(settings: IngestorSettings) -> list[Step]:
    """The reconciler's steps, each at its own pace. It needs no model, and never loads one."""
    catalog = Catalog(settings.state.catalog_url)
    table = settings.reconciler
    lazy = LazyEmbedder(settings.embedder)
    house = CatalogHousekeeping(
        catalog,
        Blobs(settings.state.blob_dir),
        JobEventSender(settings.redis),
        now,
        max_attempts=settings.jobs.max_attempts,
        ring_after_s=table.ring_after_s,
        stale_after_s=table.sweep_grace_s,
        blob_grace_s=table.blob_grace_s,
        keep_jobs_days=table.keep_jobs_days,
        calibrate_again_share=settings.jobs.calibrate_again_share,
    )
    vectors = ChromaVectors(settings.chroma.chroma_url, catalog, lambda: lazy.get().spec, now)
    flow = Reconciler(
        house,
        vectors,
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
