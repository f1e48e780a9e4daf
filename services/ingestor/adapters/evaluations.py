"""The record of evaluations in the catalog."""

from collections.abc import Sequence

from services.ingestor.ports.evaluation import Ordered
from services.shared.catalog import evaluations
from services.shared.catalog.engine import Catalog
from services.shared.contracts.evaluation import Evaluation, Outcome

LAST = "last"


class CatalogEvaluations:
    """Each call is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def load(self, evaluation_id: str) -> Ordered:
        with self._catalog.read() as tx:
            stored = evaluations.load(tx, evaluation_id)
        return Ordered(evaluation_id, stored.space, stored.request, stored.questions, stored.created_at)

    def asked(self, evaluation_id: str) -> set[tuple[str, str]]:
        with self._catalog.read() as tx:
            return evaluations.asked(tx, evaluation_id)

    def outcomes(self, evaluation_id: str) -> list[Outcome]:
        with self._catalog.read() as tx:
            return evaluations.outcomes(tx, evaluation_id)

    def add(self, evaluation_id: str, outcomes: Sequence[Outcome]) -> None:
        with self._catalog.write() as tx:
            evaluations.add_outcomes(tx, evaluation_id, outcomes)

    def forget(self, evaluation_id: str) -> None:
        with self._catalog.write() as tx:
            evaluations.forget_outcomes(tx, evaluation_id)

    def earlier(self, ordered: Ordered) -> Evaluation | None:
        against = ordered.request.against
        if against is None:
            return None
        with self._catalog.read() as tx:
            if against == LAST:
                found = evaluations.newest(
                    tx,
                    ordered.space,
                    subject=ordered.request.subject,
                    questions=ordered.questions,
                    but_not=ordered.id,
                )
            else:
                found = against
            return None if found is None else evaluations.get(tx, ordered.space, found)

    def finish(self, evaluation: Evaluation, markdown: str, html: str) -> Evaluation | None:
        with self._catalog.write() as tx:
            return evaluations.finish(tx, evaluation.id, evaluation, markdown, html)
