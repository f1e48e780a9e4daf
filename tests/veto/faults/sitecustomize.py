"""Plants a fault in every process of a stack whose PYTHONPATH begins with this folder.

``RAGSTONE_SEEDED_FAULT`` names it. Python imports a module of this name by itself when it starts.
"""

import os

FAULT = os.environ.get("RAGSTONE_SEEDED_FAULT", "")

if FAULT == "chunker":
    from services.ingestor.domain import chunking

    _cut = chunking.cut

    def _forgets_every_other(*arguments, **named):  # type: ignore[no-untyped-def]
        """A chunker that loses every other chunk of a document that has several."""
        return _cut(*arguments, **named)[::2]

    chunking.cut = _forgets_every_other

if FAULT == "l2":
    from services.shared.index import chroma

    # Squared Euclidean distances of vectors of length one are twice the cosine distances.
    chroma.METRIC = "l2"
    chroma.HNSW = {**chroma.HNSW, "space": "l2"}
