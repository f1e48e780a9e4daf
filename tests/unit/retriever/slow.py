"""Stand-ins for loaded models that work when they are told to."""

import threading
from collections.abc import Collection, Sequence

import numpy as np

from services.retriever.adapters.records import identity
from services.retriever.domain.hits import EmbedderIdentity
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.grounding import Grounding, Pair


class SlowModel:
    """Stands for the loaded model: every batch waits to be let through, and says what it was given."""

    engine = "fake in float32"

    def __init__(self, name: str = "fake") -> None:
        self.spec = EmbedderSpec(name, "r1", 2, "", "", 256)
        self.gates = {"questions": threading.Semaphore(0), "documents": threading.Semaphore(0)}
        self.calls: list[tuple[str, list[str]]] = []
        self.error: Exception | None = None

    def embed_questions(self, texts: Sequence[str]) -> np.ndarray:
        return self._embed("questions", texts)

    def embed_documents(self, texts: Sequence[str], keep_going: object = None) -> np.ndarray:
        return self._embed("documents", texts)

    def let_through(self, batches: int, *kinds: str) -> None:
        """Let that many batches of each kind finish."""
        for kind in kinds or self.gates:
            self.gates[kind].release(batches)

    def _embed(self, kind: str, texts: Sequence[str]) -> np.ndarray:
        self.calls.append((kind, list(texts)))
        self.gates[kind].acquire()
        if self.error:
            raise self.error
        return np.asarray([[len(text), 1.0] for text in texts], dtype=np.float32)


class SlowModels:
    """Stands for Embedders: a load waits for ``ready``, and only one model of each name is loaded."""

    def __init__(self, model: SlowModel, *others: SlowModel, ready: bool = True) -> None:
        self.models = {one.spec.name: one for one in (model, *others)}
        self.first = model
        self.ready = threading.Event()
        self.here: set[str] = set()
        self.loads: list[str] = []
        self.error: RagstoneError | None = None
        self.room = True
        if ready:
            self.ready.set()

    def loaded(self, recorded: EmbedderIdentity) -> bool:
        return recorded.name in self.here

    def of(self, recorded: EmbedderIdentity) -> SlowModel:
        if recorded.name not in self.here:
            self.loads.append(recorded.name)
            self.ready.wait(10)
            if self.error:
                raise self.error
            self.here.add(recorded.name)
        return self.models[recorded.name]

    def new(self) -> SlowModel:
        return self.of(identity(self.first.spec))

    def let_go(self, *, all_but: Collection[tuple[str, str]]) -> None:
        self.here &= {name for name, _ in all_but}


class SlowGrounder:
    """Stands for the loaded grounder: it waits for ``go``, and says how many pairs it was given."""

    def __init__(self, *, open_: bool = False) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.calls: list[int] = []
        if open_:
            self.go.set()

    def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        self.begun.set()
        self.go.wait(10)
        self.calls.append(len(pairs))
        return [Grounding(supported=0.5, contradicted=0.0) for _ in pairs]
