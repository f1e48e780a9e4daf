"""Fakes of the gateway's ports, and a whole gateway over them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import httpx
from fastapi import FastAPI

from services.gateway.app.application import gateway_app
from services.gateway.domain.citations import TextOf
from services.gateway.domain.limiting import Charge, Standing
from services.gateway.ports.documents import Accepted, Forgotten, KeptDocument, Source
from services.gateway.ports.given import Reuse
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.flows import Outside, gateway_of
from services.gateway.wiring.operations import Watched
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobState, Queue
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import Passage
from tests.unit.gateway.fake_forgetting import FakeBodies, FakeForgetting, FakeIndexes, FakeMemory
from tests.unit.gateway.fake_gaps import FakeGapBook, FakeLikeness, FakeMarks
from tests.unit.gateway.fake_given import FakeGiven, FakeStandings, FakeWays
from tests.unit.gateway.fake_index_book import FakeIndexBook
from tests.unit.gateway.fake_jobs import FakeJobs, FakeNews
from tests.unit.gateway.fake_keys import FakeKeys
from tests.unit.gateway.fake_later import FakeLaterBook
from tests.unit.gateway.fake_operations import FakeFigures, FakeWarmed
from tests.unit.gateway.fake_records import FakeAnswers, FakeCalibrations, FakeEvaluations, FakeFeedback, FakeGolden
from tests.unit.gateway.fake_services import FakeGenerator, FakeRetriever, Step
from tests.unit.gateway.messages import NOON, SHED, found


@dataclass
class FakeLiveTexts:
    texts: dict[TextOf, str] = field(default_factory=lambda: {(DocumentId("shed.md"), VersionId("v1")): SHED})

    async def live_texts(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        return {key: self.texts[key] for key in wanted if key in self.texts}


@dataclass
class FakeDocuments:
    submitted: list[KeptDocument] = field(default_factory=list)
    batches: list[tuple[str, int]] = field(default_factory=list)
    stored: dict[tuple[SpaceId, DocumentId], tuple[Document, Source]] = field(default_factory=dict)
    on_submit: Callable[[], None] = lambda: None
    ended: list[JobId] = field(default_factory=list)
    """Clean-ups that had nothing left to do."""
    settles: bool = True
    taken: bool = False
    """A worker has the clean-up already."""
    reports_job: JobId | None = None

    async def submit(self, space: SpaceId, kept: Sequence[KeptDocument], request_id: str) -> list[Accepted]:
        self.submitted.extend(kept)
        self.on_submit()
        return [
            Accepted(JobId(f"j{n}"), one.document.id, JobState.QUEUED, unchanged=False, new=True)
            for n, one in enumerate(kept)
        ]

    async def submit_batch(self, space: SpaceId, sha256: str, size: int, request_id: str) -> Accepted:
        self.batches.append((sha256, size))
        return Accepted(JobId("b0"), None, JobState.QUEUED, unchanged=False, new=True)

    async def remove(
        self, space: SpaceId, document_id: DocumentId, request_id: str, *, coming: bool = False
    ) -> Forgotten:
        if coming:
            return Forgotten(document_id, 0, 0, [], [], [], JobId("c0"), self.reports_job)
        _, source = self._known(space, document_id)
        del self.stored[(space, document_id)]
        return Forgotten(document_id, 1, 3, [source.sha256], [source.version], [], JobId("c0"), self.reports_job)

    async def cleaned(self, job_id: JobId) -> bool:
        self.ended.append(job_id)
        return not self.taken

    async def settle(self) -> bool:
        return self.settles

    async def page(
        self, space: SpaceId, *, limit: int, cursor: str | None, type: str | None, origin: str | None
    ) -> DocumentList:
        items = [document for (where, _), (document, _) in self.stored.items() if where == space]
        return DocumentList(items=items[:limit], next_cursor=None)

    async def one(self, space: SpaceId, document_id: DocumentId) -> Document:
        return self._known(space, document_id)[0]

    async def source(self, space: SpaceId, document_id: DocumentId, version: VersionId | None) -> Source:
        source = self._known(space, document_id)[1]
        if version not in (None, source.version):
            raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, f"no version {version}")
        return source

    def _known(self, space: SpaceId, document_id: DocumentId) -> tuple[Document, Source]:
        if (space, document_id) not in self.stored:
            raise RagstoneError(ErrorCode.DOCUMENT_NOT_FOUND, f"no document {document_id}")
        return self.stored[(space, document_id)]

    def hold(self, id: str, text: str = SHED, *, space: str = "main", filename: str | None = None) -> None:
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        document = Document(
            id=DocumentId(id),
            version=VersionId("v1"),
            title=id,
            type=None,
            tags=[],
            source=None,
            origin=None,
            filename=filename,
            media_type="text/html",
            size_bytes=len(text.encode()),
            sha256=sha256,
            chunks=3,
            metadata={},
            warning=None,
            created_at=NOON,
            updated_at=NOON,
        )
        source = Source(document.id, document.version, sha256, filename, document.media_type, text)
        self.stored[(SpaceId(space), document.id)] = (document, source)


@dataclass
class FakeOriginals:
    kept: dict[str, bytes] = field(default_factory=dict)
    puts: int = 0

    async def put(self, data: BinaryIO | bytes) -> tuple[str, int]:
        self.puts += 1
        if not isinstance(data, bytes):
            data.seek(0)
            data = data.read()
        sha256 = hashlib.sha256(data).hexdigest()
        self.kept[sha256] = data
        return sha256, len(data)

    async def holds(self, sha256: str) -> bool:
        return sha256 in self.kept

    async def discard_orphans(self, hashes: Sequence[str]) -> int:
        return sum(self.kept.pop(sha256, None) is not None for sha256 in hashes)

    async def original(self, sha256: str) -> Path | BinaryIO:
        raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, "gone")


@dataclass
class FakeBell:
    rung: list[tuple[Queue, JobId]] = field(default_factory=list)

    async def ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        self.rung.extend((queue, job_id) for job_id in job_ids)


@dataclass
class FakeParts:
    down: dict[str, str] = field(default_factory=dict)

    async def look(self) -> dict[str, PartHealth]:
        names = ("catalog", "redis", "retriever", "generator", "worker", "reconciler", "asker")
        return {name: PartHealth(ready=name not in self.down, detail=self.down.get(name, "ok")) for name in names}


class FakeRates:
    """Counts in memory, and forgets nothing."""

    def __init__(self) -> None:
        self.counted: Counter[Charge] = Counter()

    async def hit(self, charge: Charge, cost: int = 1) -> Standing:
        found = self._found(charge)
        if found.remaining < cost:
            return replace(found, allowed=False)
        self.counted[charge] += cost
        return replace(found, remaining=found.remaining - cost)

    async def give_back(self, charge: Charge, cost: int, wanted: int) -> Standing:
        self.counted[charge] -= cost
        return replace(self._found(charge), allowed=False)

    def _found(self, charge: Charge) -> Standing:
        limit = int(charge.rate.partition("/")[0])
        left = limit - self.counted[charge]
        return Standing(left > 0, limit, left, reset_s=7, period_s=60)


@dataclass
class World:
    """A whole gateway over fakes."""

    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    live: FakeLiveTexts = field(default_factory=FakeLiveTexts)
    documents: FakeDocuments = field(default_factory=FakeDocuments)
    jobs: FakeJobs = field(default_factory=FakeJobs)
    later: FakeLaterBook = field(default_factory=FakeLaterBook)
    evaluations: FakeEvaluations = field(default_factory=FakeEvaluations)
    golden: FakeGolden = field(default_factory=FakeGolden)
    feedback: FakeFeedback = field(default_factory=FakeFeedback)
    gaps: FakeGapBook = field(default_factory=FakeGapBook)
    likeness: FakeLikeness = field(default_factory=FakeLikeness)
    marks: FakeMarks = field(default_factory=FakeMarks)
    calibrations: FakeCalibrations = field(default_factory=FakeCalibrations)
    index_book: FakeIndexBook = field(default_factory=FakeIndexBook)
    remembered: FakeAnswers = field(default_factory=FakeAnswers)
    standings: FakeStandings = field(default_factory=FakeStandings)
    ways: FakeWays = field(default_factory=FakeWays)
    given: FakeGiven = field(default_factory=FakeGiven)
    originals: FakeOriginals = field(default_factory=FakeOriginals)
    forgetting: FakeForgetting = field(default_factory=FakeForgetting)
    bell: FakeBell = field(default_factory=FakeBell)
    parts: FakeParts = field(default_factory=FakeParts)
    rates: FakeRates = field(default_factory=FakeRates)
    keys: FakeKeys = field(default_factory=FakeKeys)
    figures: FakeFigures = field(default_factory=FakeFigures)
    warmed: dict[str, FakeWarmed] = field(
        default_factory=lambda: {"retriever": FakeWarmed(), "generator": FakeWarmed()}
    )
    profile: Profile = field(default_factory=Profile)
    settings: GatewaySettings = field(
        default_factory=lambda: GatewaySettings(document_max_bytes=1000, body_max_bytes=5000)
    )

    def outside(self) -> Outside:
        return Outside(
            retriever=self.retriever,
            generator=self.generator,
            live_texts=self.live,
            documents=self.documents,
            jobs=self.jobs,
            later=self.later,
            evaluations=self.evaluations,
            golden=self.golden,
            feedback=self.feedback,
            gaps=self.gaps,
            likeness=self.likeness,
            marks=self.marks,
            calibrations=self.calibrations,
            index_book=self.index_book,
            answers=self.remembered,
            reuse=Reuse(self.standings, self.ways, self.given),
            memory=FakeMemory(self.forgetting),
            originals=self.originals,
            bodies=FakeBodies(self.forgetting),
            indexes=FakeIndexes(self.forgetting),
            bell=self.bell,
            news=FakeNews(),
            parts=self.parts,
            rates=self.rates,
            keys=self.keys,
            watched=Watched(self.figures, self.warmed["retriever"], self.warmed["generator"]),
        )

    def app(self) -> FastAPI:
        """Called "gateway", as in the containers."""
        named = self.settings.model_copy(update={"allowed_hosts": [*self.settings.allowed_hosts, "gateway"]})
        return gateway_app(gateway_of(self.outside(), named, self.profile))

    def client(self, address: str = "127.0.0.1") -> httpx.AsyncClient:
        """One that asks from this address."""
        transport = httpx.ASGITransport(self.app(), client=(address, 123))
        return httpx.AsyncClient(transport=transport, base_url="http://gateway")

    def answers(self, *passages: Passage, script: Sequence[Step]) -> None:
        """The retriever finds these passages, and the generator plays this script."""
        self.retriever.response = found(*passages)
        self.generator.script = list(script)
