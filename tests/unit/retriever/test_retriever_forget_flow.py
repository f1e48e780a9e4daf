"""Forgetting goes on only with versions that nobody needs any more."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from services.retriever.flow.forget import Forgetting
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.forgetting import ForgetRequest
from services.shared.contracts.ids import SpaceId, VersionId

OLD, AGAIN = VersionId("old"), VersionId("again")


@dataclass
class FakeMemory:
    """``again`` was sent anew since; each version has two chunks in three indexes."""

    said: list[tuple[str, list[VersionId]]] = field(default_factory=list)
    away: bool = False

    async def gone(self, space: SpaceId, versions: Sequence[VersionId]) -> list[VersionId]:
        return [version for version in versions if version != AGAIN]

    async def forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        self.said.append(("vectors", list(versions)))
        if self.away:
            raise RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "Chroma does not answer")
        return 6 * len(versions)

    async def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        self.said.append(("postings", list(versions)))
        return 2 * len(versions)


REQUEST = ForgetRequest(space=SpaceId("main"), versions=[OLD, AGAIN])


async def test_what_is_gone_is_counted_in_every_index() -> None:
    memory = FakeMemory()
    done = await Forgetting(memory).forget(REQUEST)
    assert (done.vectors, done.postings) == (6, 2)
    assert sorted(memory.said) == [("postings", [OLD]), ("vectors", [OLD])]


async def test_an_index_that_is_away_is_no_success_and_the_words_are_forgotten_all_the_same() -> None:
    memory = FakeMemory(away=True)
    with pytest.raises(RagstoneError) as refused:
        await Forgetting(memory).forget(REQUEST)
    assert refused.value.code is ErrorCode.VECTOR_STORE_UNAVAILABLE
    assert ("postings", [OLD]) in memory.said
