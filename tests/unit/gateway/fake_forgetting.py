"""Fakes of everything that forgets a document beside the catalog."""

from dataclasses import dataclass, field

from services.gateway.ports.forgetting import EmptiedBodies
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.ids import DocumentId, JobId, SpaceId


@dataclass
class FakeForgetting:
    """Everything that forgets beside the catalog; ``away`` does not answer."""

    found: ForgetResponse = field(default_factory=lambda: ForgetResponse(vectors=3, postings=3))
    answers: int = 2
    batches: list[JobId] = field(default_factory=list)
    complete: bool = True
    away: set[str] = field(default_factory=set)
    asked: list[ForgetRequest] = field(default_factory=list)
    coming: set[DocumentId] = field(default_factory=set)
    """Documents that stand in bodies of batches that are not read to the end."""


@dataclass
class FakeBodies:
    world: FakeForgetting

    async def hold(self, space: SpaceId, document_id: DocumentId) -> bool:
        return document_id in self.world.coming

    async def empty(self, space: SpaceId, document_id: DocumentId) -> EmptiedBodies:
        if "bodies" in self.world.away:
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "the blob folder cannot be read")
        return EmptiedBodies(self.world.batches, self.world.complete)


@dataclass
class FakeIndexes:
    world: FakeForgetting

    async def forget(self, request: ForgetRequest) -> ForgetResponse:
        self.world.asked.append(request)
        if "indexes" in self.world.away:
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "the retriever did not answer in time")
        return self.world.found


@dataclass
class FakeMemory:
    world: FakeForgetting

    async def forget(self, space: SpaceId, document_id: DocumentId) -> int:
        if "answers" in self.world.away:
            raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, "Redis does not answer")
        return self.world.answers
