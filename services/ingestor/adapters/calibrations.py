"""Live documents with the ids of their chunks, and the record of calibrations in the catalog."""

from collections.abc import Collection, Iterator, Sequence

from services.ingestor.adapters.golden_content import golden_questions, live_documents, source_document
from services.ingestor.ports.jobs import ClaimedJob
from services.shared.catalog import calibrations, chunks, indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.calibration import Calibration
from services.shared.contracts.golden import GoldenState
from services.shared.contracts.ids import ChunkId, IndexId, JobId, SpaceId
from services.shared.evaluation.calibration.cases import Case, Seen
from services.shared.evaluation.calibration.questions import Source


class CatalogCalibrationContent:
    """Each document is read in a transaction of its own, so that a large space blocks nobody."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def sources(self, space: SpaceId, seed: int) -> Iterator[Source]:
        for document, found in live_documents(self._catalog, space, seed):
            yield Source(source_document(document, found), tuple(chunk.id for chunk in found))

    def decided(self, space: SpaceId) -> set[str]:
        with self._catalog.read() as tx:
            found = golden_questions(tx, space)
            return {item.question.id for item in found if item.state is not GoldenState.PROPOSED}

    def live(self, space: SpaceId, ids: Collection[ChunkId]) -> set[ChunkId]:
        with self._catalog.read() as tx:
            return set(chunks.live_chunks(tx, space, list(ids)))

    def index(self, space: SpaceId) -> IndexId | None:
        with self._catalog.read() as tx:
            serving = indexes.serving(tx, space)
        return None if serving is None else serving.id

    def size(self, space: SpaceId) -> int:
        with self._catalog.read() as tx:
            return chunks.counts(tx, space)[1]


class CatalogCalibrations:
    """Each call is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def plan(self, job: ClaimedJob, cases: Sequence[Case]) -> None:
        with self._catalog.write() as tx:
            calibrations.keep_cases(tx, job.id, [case.model_dump(mode="json") for case in cases])

    def planned(self, job_id: JobId) -> list[tuple[int, Case, Seen | None]]:
        with self._catalog.read() as tx:
            stored = calibrations.cases(tx, job_id)
        return [
            (one.n, Case.model_validate(one.asked), None if one.seen is None else Seen.model_validate(one.seen))
            for one in stored
        ]

    def note(self, job_id: JobId, n: int, seen: Seen) -> None:
        with self._catalog.write() as tx:
            calibrations.note_seen(tx, job_id, n, seen.model_dump(mode="json"))

    def store(self, job: ClaimedJob, calibration: Calibration) -> bool:
        with self._catalog.write() as tx:
            return calibrations.store(tx, job.space, calibration)

    def forget(self, job_id: JobId) -> None:
        with self._catalog.write() as tx:
            calibrations.forget_cases(tx, job_id)
