"""Fakes of what answers questions later: the book that they are written into, and the ledger of who answers."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.gateway.domain.callers import PUBLIC_PAYER
from services.gateway.ports.asked_later import Ending, LaterQuestion, Lease, Sender
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobKind
from tests.unit.gateway.messages import job

SPACE = SpaceId("main")
ANYBODY = Sender(None, PUBLIC_PAYER, fresh=False)


@dataclass
class FakeLaterBook:
    orders: list[tuple[SpaceId, AskRequest, Sender, str]] = field(default_factory=list)

    async def order(
        self, space: SpaceId, questions: Sequence[AskRequest], sender: Sender, request_id: str
    ) -> list[Job]:
        first = len(self.orders)
        self.orders += [(space, one, sender, request_id) for one in questions]
        asked = {"kind": JobKind.ASK, "document_id": None}
        return [job(f"q{n}").model_copy(update=asked) for n in range(first, len(self.orders))]


@dataclass
class FakeLease:
    lost: bool = False

    def keeps(self, job_id: JobId) -> bool:
        return not self.lost


@dataclass
class FakeAskLedger:
    """``happened`` tells, in order, what was noted of each job."""

    waiting: list[LaterQuestion] = field(default_factory=list)
    happened: list[tuple[JobId, str]] = field(default_factory=list)
    kept: dict[JobId, tuple[Answer, set[DocumentId], int]] = field(default_factory=dict)
    reasons: dict[JobId, str] = field(default_factory=dict)
    lease: FakeLease = field(default_factory=FakeLease)
    overtaken: int = 0
    """So often an answer comes after a deletion."""
    numbers: int = 0
    staged: asyncio.Event = field(default_factory=asyncio.Event)

    def wait_in_row(self, *questions: str, sender: Sender = ANYBODY) -> list[JobId]:
        ids = [JobId(f"q{n}") for n in range(len(questions))]
        self.waiting += [
            LaterQuestion(id, SPACE, AskRequest(question=question), sender, f"request-of-{id}")
            for id, question in zip(ids, questions, strict=True)
        ]
        return ids

    async def claim(self, job_id: JobId | None) -> LaterQuestion | None:
        found = next((one for one in self.waiting if job_id in (None, one.id)), None)
        if found is not None:
            self.waiting.remove(found)
        return found

    @contextmanager
    def hold(self, job_id: JobId) -> Iterator[Lease]:
        yield self.lease

    async def change_number(self, space: SpaceId) -> int:
        self.numbers += 1
        return self.numbers

    async def stage(self, job_id: JobId, stage: str) -> None:
        self.happened.append((job_id, stage))
        if stage == "write":
            self.staged.set()

    async def answered(self, job_id: JobId, answer: Answer, documents: Collection[DocumentId], since: int) -> Ending:
        if self.overtaken:
            self.overtaken -= 1
            return Ending.OVERTAKEN
        self.kept[job_id] = (answer, set(documents), since)
        self.happened.append((job_id, "succeeded"))
        return Ending.KEPT

    async def fail(self, job_id: JobId, reason: str) -> None:
        self._note(job_id, "failed", reason)

    async def put_off(self, job_id: JobId, reason: str) -> None:
        self._note(job_id, "put off", reason)

    async def drop(self, job_id: JobId) -> None:
        self._note(job_id, "dropped", "")

    async def release(self, question: LaterQuestion) -> None:
        self._note(question.id, "released", "")

    def _note(self, job_id: JobId, what: str, reason: str) -> None:
        self.happened.append((job_id, what))
        self.reasons[job_id] = reason
