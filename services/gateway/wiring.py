"""Builds the gateway from its settings."""

import time
import uuid
from dataclasses import dataclass

from services.gateway.adapters.answers import RedisAnswers
from services.gateway.adapters.bodies import BlobBodies
from services.gateway.adapters.catalog.calibrations import CatalogCalibrations
from services.gateway.adapters.catalog.documents import CatalogDocuments
from services.gateway.adapters.catalog.evaluations import CatalogEvaluations
from services.gateway.adapters.catalog.feedback import CatalogFeedback
from services.gateway.adapters.catalog.golden import CatalogGolden
from services.gateway.adapters.catalog.indexes import CatalogIndexes
from services.gateway.adapters.catalog.jobs import CatalogJobs
from services.gateway.adapters.catalog.live import CatalogLiveTexts
from services.gateway.adapters.generator import HttpGenerator
from services.gateway.adapters.originals import BlobOriginals
from services.gateway.adapters.parts import LiveParts
from services.gateway.adapters.profile import load_profile
from services.gateway.adapters.queue import WorkerBell
from services.gateway.adapters.retriever import HttpIndexes, HttpRetriever
from services.gateway.flow.apart import Apart
from services.gateway.flow.ask import AskFlow, Limits
from services.gateway.flow.calibrate import CalibrateFlow
from services.gateway.flow.curate import CurateFlow
from services.gateway.flow.evaluate import EvaluateFlow
from services.gateway.flow.find import FindFlow
from services.gateway.flow.forget import ForgetFlow
from services.gateway.flow.indexes import IndexFlow
from services.gateway.flow.jobs import JobFlow
from services.gateway.flow.judge import JudgeFlow
from services.gateway.flow.submit import SubmitFlow
from services.gateway.flow.writing import Writing
from services.gateway.ports.answering import Answers, Generator, LiveTexts, Retriever
from services.gateway.ports.calibration import Calibrations
from services.gateway.ports.documents import Documents, Originals
from services.gateway.ports.evaluation import Evaluations, FeedbackBook, Golden
from services.gateway.ports.forgetting import AnswerMemory, Bodies, Indexes
from services.gateway.ports.indexes import IndexBook
from services.gateway.ports.jobs import Bell, JobNews, Jobs
from services.gateway.ports.parts import Parts
from services.gateway.settings import GatewaySettings
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.profile import Profile
from services.shared.kit.events import JobEventListener
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.queue import impatient_bell
from services.shared.kit.settings import EmbedderSettings, JobSettings, RedisSettings, ServiceSettings, StateSettings


@dataclass(frozen=True)
class Outside:
    """Everything outside that the gateway speaks to, behind its ports."""

    retriever: Retriever
    generator: Generator
    live_texts: LiveTexts
    documents: Documents
    jobs: Jobs
    evaluations: Evaluations
    golden: Golden
    feedback: FeedbackBook
    calibrations: Calibrations
    index_book: IndexBook
    answers: Answers
    memory: AnswerMemory
    originals: Originals
    bodies: Bodies
    indexes: Indexes
    bell: Bell
    news: JobNews
    parts: Parts


@dataclass(frozen=True)
class Gateway:
    """The flows behind the routes, and the ports that a route may read from directly."""

    settings: GatewaySettings
    profile: Profile
    find: FindFlow
    ask: AskFlow
    submit: SubmitFlow
    forget: ForgetFlow
    watch: JobFlow
    evaluate: EvaluateFlow
    curate: CurateFlow
    calibrate: CalibrateFlow
    indexes: IndexFlow
    judge: JudgeFlow
    documents: Documents
    jobs: Jobs
    evaluations: Evaluations
    golden: Golden
    feedback: FeedbackBook
    calibrations: Calibrations
    index_book: IndexBook
    originals: Originals
    parts: Parts


def gateway_of(outside: Outside, settings: GatewaySettings, profile: Profile) -> Gateway:
    """The flows over these adapters."""
    find, ask = _asking(outside, settings, profile)
    submit = SubmitFlow(
        documents=outside.documents,
        originals=outside.originals,
        bell=outside.bell,
        document_max_bytes=settings.document_max_bytes,
        body_max_bytes=settings.body_max_bytes,
    )
    watch = JobFlow(jobs=outside.jobs, news=outside.news, bell=outside.bell)
    return Gateway(
        settings=settings,
        profile=profile,
        find=find,
        ask=ask,
        submit=submit,
        forget=ForgetFlow(
            documents=outside.documents,
            originals=outside.originals,
            bodies=outside.bodies,
            indexes=outside.indexes,
            answers=outside.memory,
            bell=outside.bell,
        ),
        watch=watch,
        evaluate=EvaluateFlow(
            evaluations=outside.evaluations, bell=outside.bell, question_max_chars=settings.question_max_chars
        ),
        curate=CurateFlow(golden=outside.golden, bell=outside.bell, question_max_chars=settings.question_max_chars),
        calibrate=CalibrateFlow(calibrations=outside.calibrations, bell=outside.bell),
        indexes=IndexFlow(book=outside.index_book, jobs=outside.jobs, bell=outside.bell, clock=time.monotonic),
        judge=JudgeFlow(answers=outside.answers, feedback=outside.feedback, keep_s=settings.answer_keep_s),
        documents=outside.documents,
        jobs=outside.jobs,
        evaluations=outside.evaluations,
        golden=outside.golden,
        feedback=outside.feedback,
        calibrations=outside.calibrations,
        index_book=outside.index_book,
        originals=outside.originals,
        parts=outside.parts,
    )


def _asking(outside: Outside, settings: GatewaySettings, profile: Profile) -> tuple[FindFlow, AskFlow]:
    """What searches, and what answers on top of it."""
    clock = time.perf_counter
    find = FindFlow(
        retriever=outside.retriever,
        record=outside.live_texts,
        apart=Apart(
            generator=outside.generator,
            language=profile.language,
            wait_s=settings.decompose_wait_s,
            question_max_chars=settings.question_max_chars,
            clock=clock,
        ),
        profile=profile,
        question_max_chars=settings.question_max_chars,
        clock=clock,
    )
    ask = AskFlow(
        find=find,
        writing=Writing(
            find=find, generator=outside.generator, record=outside.live_texts, profile=profile, clock=clock
        ),
        answers=outside.answers,
        profile=profile,
        limits=Limits(settings.question_max_chars, settings.history_max_chars),
        clock=clock,
        new_id=lambda: uuid.uuid4().hex,
    )
    return find, ask


class Wiring:
    """The real adapters, with what has to be opened before the first request and closed after the last."""

    def __init__(self, settings: GatewaySettings) -> None:
        state, redis, services, jobs = StateSettings(), RedisSettings(), ServiceSettings(), JobSettings()
        self._catalog = Catalog(state.catalog_url)
        self._events = JobEventListener(redis)
        documents = CatalogDocuments(self._catalog)
        self._answers = RedisAnswers(redis, keep_s=settings.answer_keep_s, all_live=documents.all_live)
        blobs = Blobs(state.blob_dir)
        self._retriever = ServiceClient(
            name="retriever",
            base_url=services.retriever_url,
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=settings.retriever_timeout_s,
        )
        self._indexes = ServiceClient(
            name="retriever",
            base_url=services.retriever_url,
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=settings.forget_wait_s,
        )
        self._generator = ServiceClient(
            name="generator",
            base_url=services.generator_url,
            unavailable=ErrorCode.GENERATOR_UNAVAILABLE,
            timeout_s=settings.generator_timeout_s,
        )
        outside = Outside(
            retriever=HttpRetriever(self._retriever),
            generator=HttpGenerator(self._generator),
            live_texts=CatalogLiveTexts(self._catalog),
            documents=documents,
            jobs=CatalogJobs(self._catalog),
            evaluations=CatalogEvaluations(self._catalog),
            golden=CatalogGolden(self._catalog),
            feedback=CatalogFeedback(self._catalog),
            calibrations=CatalogCalibrations(self._catalog, jobs.calibrate_again_share),
            index_book=CatalogIndexes(self._catalog, EmbedderSettings().embedder),
            answers=self._answers,
            memory=self._answers,
            originals=BlobOriginals(blobs, self._catalog),
            bodies=BlobBodies(blobs, self._catalog),
            indexes=HttpIndexes(self._indexes),
            bell=WorkerBell(impatient_bell(redis, jobs), self._catalog),
            news=self._events,
            parts=LiveParts(
                catalog=self._catalog,
                retriever=self._retriever,
                generator=self._generator,
                events=self._events,
                redis=redis,
                timeout_s=settings.ready_timeout_s,
            ),
        )
        self.gateway = gateway_of(outside, settings, load_profile(settings.profile))

    def prepare(self) -> None:
        """Bring the catalog to this release's shape. Raises RagstoneError (catalog_unavailable)."""
        self._catalog.migrate()

    async def close(self) -> None:
        """Give every connection back."""
        await self._retriever.close()
        await self._indexes.close()
        await self._generator.close()
        await self._events.close()
        await self._answers.close()
        self._catalog.close()
