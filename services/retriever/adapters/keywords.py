"""BM25, one index in memory for each space that is asked, caught up with the catalog before it answers."""

import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import Covered, Hit
from services.retriever.ports import Matched
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, SpaceId, VersionId
from services.shared.contracts.search import Filters
from services.shared.index.analyser import question_languages, question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower
from services.shared.kit.logs import get_logger
from services.shared.kit.opened import Opened

log = get_logger(__name__)

THREADS = 4

COVERING = 3
"""Best chunks that are looked at for the one that holds most of the question: a very short one may lead with less."""

T = TypeVar("T")


class Bm25Keywords:
    """The port ``Keywords`` over ``services.shared.index``."""

    def __init__(self, catalog: Catalog, snapshot_dir: Path, *, open_limit: int) -> None:
        self._catalog = catalog
        self._snapshot_dir = snapshot_dir
        self._opened: Opened[SpaceId, Bm25Follower] = Opened(open_limit)
        self._threads = Threads(THREADS)

    async def search(
        self,
        space: SpaceId,
        questions: Sequence[str],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[Matched]:
        """For each question its best ``k`` chunks, and how much of it the best one covers."""

        def find(index: BM25Index) -> list[Matched]:
            return [_matched(index, question, k, filters, without) for question in questions]

        return await self._threads.run(self.ask, space, find)

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[float]:
        """How much of the question each text holds."""

        def measure(index: BM25Index) -> list[float]:
            # The texts' own languages are not told; one for both sides makes their words comparable.
            language = question_languages(question, index.idf)[0]
            asked = question_tokens(question, language)
            return [index.coverage(asked, tokens(text, language)) for text in texts]

        return await self._threads.run(self.ask, space, measure)

    def ask(self, space: SpaceId, ask: Callable[[BM25Index], T]) -> T:
        """What ``ask`` makes of the space's index, which is level with the catalog. Raises RagstoneError."""
        try:
            return ask(self._follower(space).current())
        except RagstoneError:
            raise
        # Files of a snapshot, or an index that they left in disorder: any type of error, one way to put it right.
        except Exception as error:
            log.exception("bm25_failed", space=space)
            detail = (
                f"The keyword index of space {space} failed ({type(error).__name__}); restart the retriever, and "
                f"if that does not help delete {self._snapshot_dir}: it is built again from the catalog."
            )
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail) from error

    def forget(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Come level with a deletion; how many chunks of these versions left. Raises RagstoneError."""
        return self._follower(space).forget(versions)

    def follow_deletions(self, spaces: Collection[SpaceId]) -> None:
        """Come level where something was deleted, in those of the spaces that are open. Raises RagstoneError."""
        for space in spaces:
            follower = self._opened.look(space)
            if follower is not None:
                follower.follow_deletions()

    def close(self) -> None:
        """Save what the snapshots lack, so that the next start has nothing to catch up with."""
        for follower in self._opened.values():
            follower.close()

    def _follower(self, space: SpaceId) -> Bm25Follower:
        return self._opened.get(space, lambda: Bm25Follower(self._catalog, space, self._snapshot_dir))


def _matched(index: BM25Index, question: str, k: int, filters: Filters | None, without: Collection[ChunkId]) -> Matched:
    # A document that is replaced between the search and the question how much its chunk covers would cover nothing, and
    # the whole list be dropped for it.
    with index.steady:
        languages = question_languages(question, index.idf)
        asked = question_tokens(question, languages)
        hits = index.search(asked, k, filters, without)
        best = [hit.chunk_id for hit in hits[:COVERING]]
        share = max((_covered(index, question, language, best) for language in languages), default=0.0)
        rarity = max((index.idf(token) for token in asked), default=0.0) / highest_idf(index)
    return Matched([Hit(hit.chunk_id, hit.score) for hit in hits], Covered(share, rarity))


def _covered(index: BM25Index, question: str, language: str, best: Sequence[ChunkId]) -> float:
    """In one language: a chunk holds the words of its own alone, and lacks nothing of the others."""
    shares = index.coverage_of_chunks(question_tokens(question, language), best)
    return max((share or 0.0 for share in shares), default=0.0)


def highest_idf(index: BM25Index) -> float:
    """The idf of a word that a single chunk holds."""
    return math.log(len(index) + 1) or 1.0
