"""Fakes of the gateway's ports, and a whole gateway over them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import httpx

from services.gateway.app.application import gateway_app
from services.gateway.domain.citations import TextOf
from services.gateway.ports.documents import Accepted, Forgotten, KeptDocument, Source
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import Outside, gateway_of
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Job, JobItemList, JobKind, JobList, JobState, Queue
from services.shared.contracts.profile import Profile
from services.shared.contracts.search import Passage
from tests.unit.gateway.fake_forgetting import FakeBodies, FakeForgetting, FakeIndexes, FakeMemory
from tests.unit.gateway.fake_index_book import FakeIndexBook
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

    async def remove(self, space: SpaceId, document_id: DocumentId, request_id: str) -> Forgotten:
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
class FakeJobs:
    jobs: dict[tuple[SpaceId, JobId], list[Job]] = field(default_factory=dict)

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[JobState] | None,
        kinds: Sequence[JobKind] | None,
        document_id: DocumentId | None,
        limit: int,
        cursor: str | None,
    ) -> JobList:
        mine = [steps[0] for (where, _), steps in self.jobs.items() if where == space]
        shown = [
            one
            for one in mine
            if (states is None or one.state in states)
            and (kinds is None or one.kind in kinds)
            and document_id in (None, one.document_id)
        ]
        counts = {state: sum(one.state is state for one in mine) for state in JobState}
        return JobList(items=shown[:limit], next_cursor=None, counts=counts)

    async def one(self, space: SpaceId, job_id: JobId) -> Job:
        """Each look sees the next step of the job, and the last one for ever."""
        steps = self.jobs.get((space, job_id))
        if not steps:
            raise RagstoneError(ErrorCode.JOB_NOT_FOUND, f"no job {job_id}")
        return steps.pop(0) if len(steps) > 1 else steps[0]

    async def items(self, space: SpaceId, job_id: JobId, *, limit: int, cursor: str | None) -> JobItemList:
        await self.one(space, job_id)
        return JobItemList(items=[], next_cursor=None, counts=dict.fromkeys(JobState, 0))

    async def cancel(self, space: SpaceId, job_id: JobId) -> Job:
        return await self.one(space, job_id)

    async def retry(self, space: SpaceId, job_id: JobId) -> Job:
        return await self.one(space, job_id)

    async def retry_failed(self, space: SpaceId, kind: JobKind | None) -> tuple[list[Job], int]:
        mine = [steps[0] for (where, _), steps in self.jobs.items() if where == space]
        return [one for one in mine if one.state is JobState.FAILED and kind in (None, one.kind)], 1


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

    async def path(self, sha256: str) -> Path:
        raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, "gone")


@dataclass
class FakeBell:
    rung: list[tuple[Queue, JobId]] = field(default_factory=list)

    async def ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        self.rung.extend((queue, job_id) for job_id in job_ids)


class FakeNews:
    async def wakeups(self, job_id: JobId, every_s: float) -> AsyncIterator[None]:
        while True:
            yield
            await asyncio.sleep(0)


@dataclass
class FakeParts:
    down: dict[str, str] = field(default_factory=dict)

    async def look(self) -> dict[str, PartHealth]:
        names = ("catalog", "redis", "retriever", "generator", "worker", "reconciler")
        return {name: PartHealth(ready=name not in self.down, detail=self.down.get(name, "ok")) for name in names}


@dataclass
class World:
    """A whole gateway over fakes."""

    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    live: FakeLiveTexts = field(default_factory=FakeLiveTexts)
    documents: FakeDocuments = field(default_factory=FakeDocuments)
    jobs: FakeJobs = field(default_factory=FakeJobs)
    evaluations: FakeEvaluations = field(default_factory=FakeEvaluations)
    golden: FakeGolden = field(default_factory=FakeGolden)
    feedback: FakeFeedback = field(default_factory=FakeFeedback)
    calibrations: FakeCalibrations = field(default_factory=FakeCalibrations)
    index_book: FakeIndexBook = field(default_factory=FakeIndexBook)
    remembered: FakeAnswers = field(default_factory=FakeAnswers)
    originals: FakeOriginals = field(default_factory=FakeOriginals)
    forgetting: FakeForgetting = field(default_factory=FakeForgetting)
    bell: FakeBell = field(default_factory=FakeBell)
    parts: FakeParts = field(default_factory=FakeParts)
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
            evaluations=self.evaluations,
            golden=self.golden,
            feedback=self.feedback,
            calibrations=self.calibrations,
            index_book=self.index_book,
            answers=self.remembered,
            memory=FakeMemory(self.forgetting),
            originals=self.originals,
            bodies=FakeBodies(self.forgetting),
            indexes=FakeIndexes(self.forgetting),
            bell=self.bell,
            news=FakeNews(),
            parts=self.parts,
        )

    def client(self) -> httpx.AsyncClient:
        app = gateway_app(gateway_of(self.outside(), self.settings, self.profile))
        return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway")

    def answers(self, *passages: Passage, script: Sequence[Step]) -> None:
        """The retriever finds these passages, and the generator plays this script."""
        self.retriever.response = found(*passages)
        self.generator.script = list(script)
