"""Embedding and storing vectors: a whole group at once, and one document at a time when the group fails."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingestor.domain.documents import Prepared
from services.ingestor.domain.reasons import is_outage
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Switched, Target, Vectors
from services.ingestor.ports.tools import Tools


@dataclass(frozen=True)
class Embedded:
    """A prepared document with the vectors of its chunks, or the error that it met."""

    prepared: Prepared
    vectors: Vectors = ()
    error: Exception | None = None


def embed(tools: Tools, target: Target, documents: Sequence[Prepared], keep_going: KeepGoing) -> list[Embedded]:
    """Vectors of all chunks of the group in one call, which sorts them by length whatever document they are of.

    Raises EmbeddingStopped.
    """
    if not documents:
        return []
    texts = [chunk.search_text for document in documents for chunk in document.chunks]
    try:
        vectors = tools.embedders.of(target).embed(texts, keep_going)
    except (EmbeddingStopped, tools.time_up):
        raise
    except Exception as error:
        if len(documents) == 1 or is_outage(error):
            return [Embedded(document, error=error) for document in documents]
        return [one for document in documents for one in embed(tools, target, [document], keep_going)]
    embedded = []
    at = 0
    for document in documents:
        end = at + len(document.chunks)
        embedded.append(Embedded(document, vectors[at:end]))
        at = end
    return embedded


def store(tools: Tools, target: Target, documents: Sequence[Embedded]) -> list[Embedded]:
    """Put the vectors beside what is there; a document whose vectors were not taken comes back with the error.

    Raises Switched.
    """
    ready = [one for one in documents if one.error is None]
    failed = [one for one in documents if one.error is not None]
    if not ready:
        return failed
    items = [item for one in ready for item in one.prepared.vector_items]
    try:
        tools.vectors.upsert(target, items, [vector for one in ready for vector in one.vectors])
    except (Switched, tools.time_up):
        raise
    except Exception as error:
        if len(ready) == 1 or is_outage(error):
            return [*failed, *(Embedded(one.prepared, error=error) for one in ready)]
        return [*failed, *(kept for one in ready for kept in store(tools, target, [one]))]
    return [*failed, *ready]
