"""What the retriever counts, for Prometheus."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from services.retriever.adapters.embedder import QueuedEmbedder
from services.retriever.adapters.grounder import QueuedGrounder
from services.shared.contracts.search import SearchResponse
from services.shared.kit.metrics import Metrics, Vocabulary

if TYPE_CHECKING:
    from services.shared.models.embedders import Embedders

SERVICE = "retriever"


class RetrieverMetrics(Metrics):
    """One process's; what is watched is there once the service runs."""

    def __init__(self) -> None:
        super().__init__(SERVICE)
        self._models: Embedders | None = None
        self._queues: tuple[QueuedEmbedder, QueuedGrounder] | None = None
        self._stages = Vocabulary()
        self._stage_s = self.histogram(
            "ragstone_stage_seconds", "Time of one stage of a question, or of a search", "service", "stage"
        )
        self.gauge(
            "ragstone_model_waiting",
            "Requests that wait for a model by what they bring: questions, texts, claims; loads wait for its load",
            ("lane",),
            self._waiting,
        )
        self.counted("ragstone_model_loads_total", "Models that were loaded", (), self._loads)
        self.gauge("ragstone_models_loaded", "Models in memory", (), self._loaded)

    def watch(self, models: "Embedders", embedder: QueuedEmbedder, grounder: QueuedGrounder) -> None:
        """Read the queues and the models from now on."""
        self._models, self._queues = models, (embedder, grounder)

    def found(self, response: SearchResponse) -> SearchResponse:
        """One search is over."""
        for stage, ms in response.timings_ms.items():
            self._stage_s.labels(SERVICE, self._stages.label(stage)).observe(ms / 1000)
        return response

    def _waiting(self) -> Mapping[tuple[str, ...], float]:
        if self._queues is None:
            return {}
        embedder, grounder = self._queues
        lanes = {**embedder.waiting(), "claims": grounder.waiting}
        return {(lane,): number for lane, number in lanes.items()}

    def _loads(self) -> Mapping[tuple[str, ...], float]:
        return {} if self._models is None else {(): self._models.loads}

    def _loaded(self) -> Mapping[tuple[str, ...], float]:
        return {} if self._models is None else {(): self._models.kept}
