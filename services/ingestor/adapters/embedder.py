"""The embedding models of this process, one for each index that is worked for."""

from collections.abc import Callable, Sequence

from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Target, Vectors
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.tracing import traced
from services.shared.models import embedder as models
from services.shared.models.background import export_beside
from services.shared.models.embedders import Embedders

log = get_logger(__name__)


class ModelEmbedders:
    """Loads a model at its first use, which must be in the process that works, never in its parent.

    From then on there is something to find, so that is also when the model's export for the retriever is begun.
    """

    def __init__(self, registry: Embedders, time_up: type[Exception]) -> None:
        self._registry = registry
        self._time_up = time_up
        self._configured: models.ModelSpec | None = None
        self._exporting: set[str] = set()

    def of(self, target: Target) -> "ModelEmbedder":
        return ModelEmbedder(lambda: self._model(target), self._time_up)

    def configured(self) -> "ModelEmbedder":
        """The model that the settings name, whatever any index was made with."""
        return ModelEmbedder(self._own, self._time_up)

    def first(self) -> models.ModelSpec:
        """What a space's first index is made with."""
        return self._own().spec

    def _model(self, target: Target) -> models.Embedder:
        try:
            return self._exported(self._registry.of(target.embedder))
        except RagstoneError as error:
            own = self._registry.settings.embedder
            if error.code is not ErrorCode.MODEL_UNAVAILABLE or own == target.embedder.name:
                raise
            detail = (
                f"{error.detail} The index of space {target.space} was made with {target.embedder.name} and keeps it, "
                f"although RAGSTONE_EMBEDDER names {own}: bring the old model back, or build a second index"
            )
            raise RagstoneError(error.code, detail) from error

    def _own(self) -> models.Embedder:
        if self._configured is None:
            self._configured = self._registry.new().spec
        return self._exported(self._registry.of(self._configured))

    def _exported(self, model: models.Embedder) -> models.Embedder:
        name = model.spec.name
        if name not in self._exporting:
            self._exporting.add(name)
            export_beside(self._registry.settings_for(name))
        return model


class ModelEmbedder:
    """One model as the flows use it, with its errors in our words."""

    def __init__(self, model: Callable[[], models.Embedder], time_up: type[Exception]) -> None:
        self._model = model
        self._time_up = time_up

    def max_tokens(self) -> int:
        """What the model reads of a chunk; the prompt that is put before it takes its share."""
        model = self._model()
        bare, prompt = model.count_tokens(["", model.spec.document_prompt])
        return model.spec.max_tokens - (prompt - bare)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._model().count_tokens(texts)

    @traced("embed")
    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Vectors:
        try:
            return self._model().embed_documents(texts, keep_going)
        except models.EmbeddingStopped as stopped:
            raise EmbeddingStopped from stopped
        except (RagstoneError, self._time_up):
            raise
        # torch and the tokenizer raise what they like: out of memory, a shape, a value.
        except Exception as error:
            if _while_handling(error, self._time_up):
                raise self._time_up from error
            log.exception("embedding_failed", texts=len(texts))
            detail = f"the embedding model failed ({type(error).__name__}: {str(error)[:200]}); retry the job"
            raise RagstoneError(ErrorCode.INTERNAL, detail) from error


def _while_handling(error: BaseException, kind: type[Exception]) -> bool:
    """Was this error raised while one of the ``kind`` passed through? torch's own clean-up may fail over it."""
    at = error.__context__
    while at is not None:
        if isinstance(at, kind):
            return True
        at = at.__context__
    return False
