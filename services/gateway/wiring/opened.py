"""Builds the gateway with its real adapters from the settings."""

from services.gateway.adapters.answers import RedisAnswers
from services.gateway.adapters.bodies import BlobBodies
from services.gateway.adapters.catalog.asked import CatalogLaterBook
from services.gateway.adapters.catalog.calibrations import CatalogCalibrations
from services.gateway.adapters.catalog.documents import CatalogDocuments
from services.gateway.adapters.catalog.evaluations import CatalogEvaluations
from services.gateway.adapters.catalog.feedback import CatalogFeedback
from services.gateway.adapters.catalog.figures import CatalogFigures
from services.gateway.adapters.catalog.gaps import CatalogGaps
from services.gateway.adapters.catalog.golden import CatalogGolden
from services.gateway.adapters.catalog.indexes import CatalogIndexes
from services.gateway.adapters.catalog.jobs import CatalogJobs
from services.gateway.adapters.catalog.keys import CatalogKeys
from services.gateway.adapters.catalog.live import CatalogLiveTexts
from services.gateway.adapters.catalog.standings import CatalogStandings
from services.gateway.adapters.gap_marks import RedisMarks
from services.gateway.adapters.generator import HttpGenerator
from services.gateway.adapters.given import RedisGiven
from services.gateway.adapters.originals import BlobOriginals
from services.gateway.adapters.parts import LiveParts
from services.gateway.adapters.profile import load_profile
from services.gateway.adapters.queue import WorkerBell
from services.gateway.adapters.rates import RedisRates
from services.gateway.adapters.retriever import HttpIndexes, HttpLikeness, HttpRetriever
from services.gateway.adapters.warming import HttpWarmed
from services.gateway.adapters.ways import HttpWays
from services.gateway.ports.given import Reuse
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.flows import Outside, gateway_of
from services.gateway.wiring.operations import Watched
from services.shared.catalog import keys
from services.shared.catalog.blob_store import blob_store
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode
from services.shared.kit.events import JobEventListener
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.queue import impatient_bell
from services.shared.kit.settings import EmbedderSettings, JobSettings, RedisSettings, ServiceSettings, StateSettings


class Wiring:
    """The real adapters, with what has to be opened before the first request and closed after the last."""

    def __init__(self, settings: GatewaySettings) -> None:
        state, redis, services, jobs = StateSettings(), RedisSettings(), ServiceSettings(), JobSettings()
        self._catalog = Catalog(state.catalog_url)
        self._events = JobEventListener(redis)
        documents = CatalogDocuments(self._catalog)
        keep_s, cache_s = settings.answer_keep_s, settings.cache_s
        self._answers = RedisAnswers(redis, keep_s=keep_s, all_live=documents.all_live, rest_s=cache_s)
        self._given = RedisGiven(redis, keep_s=cache_s, rest_s=keep_s)
        self._rates = RedisRates(redis, when_away=settings.limits_when_away)
        self._marks = RedisMarks(redis)
        blobs = blob_store(state)
        self._retriever = _retriever(services, settings.retriever_timeout_s)
        self._indexes = _retriever(services, settings.forget_wait_s)
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
            later=CatalogLaterBook(self._catalog),
            evaluations=CatalogEvaluations(self._catalog),
            golden=CatalogGolden(self._catalog),
            feedback=CatalogFeedback(self._catalog),
            gaps=CatalogGaps(self._catalog),
            likeness=HttpLikeness(self._retriever),
            marks=self._marks,
            calibrations=CatalogCalibrations(self._catalog, jobs.calibrate_again_share),
            index_book=CatalogIndexes(self._catalog, EmbedderSettings().embedder),
            answers=self._answers,
            reuse=Reuse(CatalogStandings(self._catalog), HttpWays(self._retriever, self._generator), self._given),
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
                originals=blobs if state.blobs_url else None,
            ),
            rates=self._rates,
            keys=CatalogKeys(self._catalog),
            watched=Watched(CatalogFigures(self._catalog), HttpWarmed(self._retriever), HttpWarmed(self._generator)),
        )
        self.gateway = gateway_of(outside, settings, load_profile(settings.profile))

    def prepare(self) -> None:
        """Bring the catalog to this release's shape. Raises RagstoneError (catalog_unavailable)."""
        self._catalog.migrate()

    def keys_made(self) -> bool:
        """Did an owner ever make a key? Raises RagstoneError (catalog_unavailable)."""
        with self._catalog.read() as tx:
            return keys.any_made(tx)

    async def close(self) -> None:
        """Give every connection back."""
        await self.gateway.notes.close()
        await self._retriever.close()
        await self._indexes.close()
        await self._generator.close()
        await self._events.close()
        await self._answers.close()
        await self._given.close()
        await self._rates.close()
        await self._marks.close()
        self._catalog.close()


def _retriever(services: ServiceSettings, timeout_s: float) -> ServiceClient:
    unavailable = ErrorCode.RETRIEVER_UNAVAILABLE
    return ServiceClient(
        name="retriever", base_url=services.retriever_url, unavailable=unavailable, timeout_s=timeout_s
    )
