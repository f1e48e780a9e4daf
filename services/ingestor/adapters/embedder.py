"""The process's embedding model."""

from collections.abc import Sequence

from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Vectors
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.models import embedder as models
from services.shared.models.background import export_beside
from services.shared.models.loader import LazyEmbedder

log = get_logger(__name__)


class ModelEmbedder:
    """Loads the model at its first use, which must be in the process that works, never in its parent.

    From then on there is something to find, so that is also when the model's export for the retriever is begun.
    """

    def __init__(self, lazy: LazyEmbedder, time_up: type[Exception]) -> None:
        self._lazy = lazy
        self._time_up = time_up
        self._exporting = False

    def max_tokens(self) -> int:
        return self._model().spec.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._model().count_tokens(texts)

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

    def _model(self) -> models.Embedder:
        model = self._lazy.get()
        if not self._exporting:
            self._exporting = True
            export_beside(self._lazy.settings)
        return model


def _while_handling(error: BaseException, kind: type[Exception]) -> bool:
    """Was this error raised while one of the ``kind`` passed through? torch's own clean-up may fail over it."""
    at = error.__context__
    while at is not None:
        if isinstance(at, kind):
            return True
        at = at.__context__
    return False
