"""BM25, one index in memory for each space that is asked, caught up with the catalog before it answers."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from services.retriever.adapters.opened import Opened
from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import Hit
from services.retriever.ports import Coverage
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import Filters
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

THREADS = 4

T = TypeVar("T")


class Bm25Keywords:
    """The port ``Keywords`` over ``services.shared.index``."""

    def __init__(self, catalog: Catalog, snapshot_dir: Path, *, open_limit: int) -> None:
        self._catalog = catalog
        self._snapshot_dir = snapshot_dir
        self._opened: Opened[SpaceId, Bm25Follower] = Opened(open_limit)
        self._threads = Threads(THREADS)

    async def search(
        self, space: SpaceId, questions: Sequence[str], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        """For each question its best ``k`` chunks."""

        def find(index: BM25Index) -> list[list[Hit]]:
            found = [index.search(question_tokens(question), k, filters) for question in questions]
            return [[Hit(hit.chunk_id, hit.score) for hit in hits] for hits in found]

        return await self._threads.run(self._ask, space, find)

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> Coverage:
        """How much of the question each text holds."""

        def measure(index: BM25Index) -> Coverage:
            asked = question_tokens(question)
            # The idf of a word that a single chunk holds.
            highest = math.log(len(index) + 1) or 1.0
            return Coverage(
                shares=[index.coverage(asked, tokens(text)) for text in texts],
                rarity=max((index.idf(token) for token in asked), default=0.0) / highest,
            )

        return await self._threads.run(self._ask, space, measure)

    def _ask(self, space: SpaceId, ask: Callable[[BM25Index], T]) -> T:
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

    def _follower(self, space: SpaceId) -> Bm25Follower:
        return self._opened.get(space, lambda: Bm25Follower(self._catalog, space, self._snapshot_dir))
