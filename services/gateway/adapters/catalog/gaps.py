"""Gaps in the catalog."""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.gateway.domain.gaps import OpenQuestion
from services.gateway.ports.gaps import Head
from services.shared.catalog import gaps
from services.shared.catalog.engine import Catalog
from services.shared.catalog.gap_rows import Unanswered
from services.shared.contracts.gaps import Gap, GapList, GapState
from services.shared.contracts.ids import DocumentId, JobId, SpaceId

T = TypeVar("T")


class CatalogGaps:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def known(self, space: SpaceId, key: str) -> str | None:
        """Which gap has the wording."""
        return await self._read(lambda tx: gaps.known(tx, space, key))

    async def heads(self, space: SpaceId) -> list[Head]:
        """Bounded by the number of wordings that a space keeps."""
        return [Head(one.id, one.question) for one in await self._read(lambda tx: gaps.heads(tx, space))]

    async def note(self, noted: OpenQuestion, key: str, gap: str | None) -> str | None:
        """Count it, and forget what there is no room for."""
        row = Unanswered(noted.question, key, noted.nearest, noted.seq, noted.judged_bad)
        return await self._write(
            lambda tx: gaps.note(tx, noted.space, row, gap, new_id=uuid.uuid4().hex, now=datetime.now(UTC))
        )

    async def page(
        self, space: SpaceId, *, states: Sequence[GapState] | None, limit: int, cursor: str | None
    ) -> GapList:
        """The heaviest first."""
        return await self._read(lambda tx: gaps.page(tx, space, states=states, limit=limit, cursor=cursor))

    async def one(self, space: SpaceId, id: str) -> Gap:
        """The gap as it is now."""
        return await self._read(lambda tx: gaps.get(tx, space, id))

    async def answered(self, space: SpaceId, id: str, document_id: DocumentId, job_id: JobId) -> Gap:
        """It has a fact."""
        return await self._write(lambda tx: gaps.answered(tx, space, id, document_id, job_id))

    async def dismiss(self, space: SpaceId, id: str) -> Gap:
        """Nothing is to be done about it."""
        return await self._write(lambda tx: gaps.dismissed(tx, space, id))

    async def reopen(self, space: SpaceId, id: str) -> Gap:
        """It is open."""
        return await self._write(lambda tx: gaps.reopened(tx, space, id))

    async def _read(self, look: Callable[[Connection], T]) -> T:
        def read() -> T:
            with self._catalog.read() as tx:
                return look(tx)

        return await run_sync(read)

    async def _write(self, change: Callable[[Connection], T]) -> T:
        def write() -> T:
            with self._catalog.write() as tx:
                return change(tx)

        return await run_sync(write)
