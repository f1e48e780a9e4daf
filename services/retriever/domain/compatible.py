"""Vectors compare only when one embedder made them all."""

from services.retriever.domain.hits import EmbedderIdentity
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId


def check_embedder(space: SpaceId, wanted: EmbedderIdentity, loaded: EmbedderIdentity) -> None:
    """Raises RagstoneError (index_incompatible) when the loaded model is not the one that made the index."""
    if loaded != wanted:
        detail = (
            f"The index of space {space} was made by {described(wanted)}, but the question was embedded by "
            f"{described(loaded)}, whose vectors mean something else. Build the index anew with 'ragstone reembed'."
        )
        raise RagstoneError(ErrorCode.INDEX_INCOMPATIBLE, detail)


def described(embedder: EmbedderIdentity) -> str:
    """For people: everything that two embedders may differ in."""
    prompts = f", prompts {embedder.query_prompt!r} and {embedder.document_prompt!r}"
    prompted = prompts if embedder.query_prompt or embedder.document_prompt else ""
    return f"{embedder.name} (revision {embedder.revision[:12]}, dimension {embedder.dimension}{prompted})"
