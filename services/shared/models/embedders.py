"""The models of a process: each is loaded once, kept while it is used, and given to whoever names it."""

import threading
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.opened import Opened
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.backends import Use
from services.shared.models.loader import found_revision, load_embedder, prompted
from services.shared.models.source import unavailable

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder

log = get_logger(__name__)

KEPT = 3
"""Models at once: of the index that serves, of the one that is built or kept beside it, and the grounding model's."""

AGAIN_S = 2.0
"""So long a failed load stands for the next ones: a search that needs the model must not read its files each time."""

Key = tuple[str, str]
"""A model by its name and revision; indexes that prompt it otherwise share it."""


class Recorded(Protocol):
    """What an index records of its embedder, as far as it decides a vector."""

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def query_prompt(self) -> str: ...
    @property
    def document_prompt(self) -> str: ...


class Embedders:
    """Threads may share it: a load under way is waited for, and other models are given out meanwhile.

    The least recently used model is let go when there are more than ``kept``; who holds it goes on with it.
    Everything that keeps a model from being had is raised as MODEL_UNAVAILABLE, with what to do.
    """

    def __init__(self, settings: EmbedderSettings, use: Use = Use.QUESTIONS, *, kept: int = KEPT) -> None:
        self.settings = settings
        self._use = use
        self._models: Opened[Key, Embedder] = Opened(kept)
        self._failed: dict[Key, tuple[float, RagstoneError]] = {}
        self._counting = threading.Lock()
        self.loads = 0
        """Models that were loaded, over the process's life."""

    def of(self, recorded: Recorded) -> "Embedder":
        """The very embedder that an index recorded, with the prompts recorded there."""
        model = self.model(recorded.name, recorded.revision)
        if model.spec.dimension != recorded.dimension:
            why = f"its vectors are {model.spec.dimension} numbers wide, and the index's are {recorded.dimension}"
            raise unavailable(recorded.name, why, "put the recorded files back, or build the index anew")
        return replace(model, spec=prompted(model.spec, recorded.query_prompt, recorded.document_prompt))

    def new(
        self, name: str | None = None, query_prompt: str | None = None, document_prompt: str | None = None
    ) -> "Embedder":
        """The embedder for a new index, from the files as they are now; a prompt that is None is the model's own.

        Without a name it is the one that the settings name, with the prompts that they name.
        """
        own = self.settings
        if name is None:
            name, query_prompt, document_prompt = own.embedder, own.embedder_query_prompt, own.embedder_document_prompt
        model = self.model(name, found_revision(self.settings_for(name), self._use))
        return replace(model, spec=prompted(model.spec, query_prompt, document_prompt))

    def model(self, name: str, revision: str) -> "Embedder":
        """The model with the prompts that it names itself."""
        if not revision:
            raise unavailable(name, "no worker has loaded it for this index yet", "wait, or look at the index's job")
        key = name, revision
        self._raise_fresh_failure(key)
        return self._models.get(key, lambda: self._load(key))

    def loaded(self, recorded: Recorded) -> bool:
        """Is the model here, so that ``of`` gives it at once?"""
        return self._models.look((recorded.name, recorded.revision)) is not None

    @property
    def kept(self) -> int:
        """Models in memory."""
        return len(self._models.values())

    @property
    def room(self) -> bool:
        """Could one more be loaded without letting another go?"""
        return len(self._models.values()) < self._models.limit

    def begin(self) -> None:
        """Load what the settings name, in a thread beside whatever else is to be done."""

        def load() -> None:
            with suppress(RagstoneError):
                self.new()

        threading.Thread(target=load, name="load-model", daemon=True).start()

    def let_go(self, *, all_but: Collection[Key]) -> None:
        """Let go of the models that nobody wants any more; who holds one goes on with it."""
        for model in self._models.keep(all_but):
            log.info("embedder_let_go", name=model.spec.name)

    def settings_for(self, name: str) -> EmbedderSettings:
        """How to load a model of this name: as configured, without the prompts of the configured one."""
        own = {"embedder": name, "embedder_query_prompt": None, "embedder_document_prompt": None}
        return self.settings.model_copy(update=own)

    def _load(self, key: Key) -> "Embedder":
        # Of the threads that waited for a load that failed, one has to try again.
        self._raise_fresh_failure(key)
        name, revision = key
        try:
            model = load_embedder(self.settings_for(name), self._use, revision=revision)
        except RagstoneError as error:
            self._failed[key] = time.monotonic(), error
            raise
        with self._counting:
            self.loads += 1
        self._failed.pop(key, None)
        return model

    def _raise_fresh_failure(self, key: Key) -> None:
        at, error = self._failed.get(key, (0.0, None))
        if error is not None and time.monotonic() - at < AGAIN_S:
            raise RagstoneError(ErrorCode.MODEL_UNAVAILABLE, error.detail)
