"""The catalog's numbers for whoever watches the system run."""

from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.gateway.ports.figures import Figures, Waiting
from services.shared.catalog import figures
from services.shared.catalog.engine import Catalog


class CatalogFigures:
    """Counts anew each time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def figures(self) -> Figures:
        """One consistent look, in a thread that is not waited for when the caller leaves."""
        return await run_sync(self._look, abandon_on_cancel=True)

    def _look(self) -> Figures:
        with self._catalog.read() as tx:
            found = figures.figures(tx)
        now = datetime.now(UTC)
        return Figures(
            jobs=found.jobs,
            waiting={
                queue: Waiting(number, max(0.0, (now - oldest).total_seconds()))
                for queue, (number, oldest) in found.waiting.items()
            },
            spaces=found.spaces,
            documents=found.documents,
            chunks=found.chunks,
            lag=found.lag,
        )
