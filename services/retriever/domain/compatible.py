"""Vectors compare only when one embedder made them all."""

from services.retriever.domain.hits import EmbedderIdentity
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId


def check_embedder(space: SpaceId, wanted: EmbedderIdentity, loaded: EmbedderIdentity) -> None:
    """Raises RagstoneError (index_incompatible) when the loaded model is not the one that made the index."""
    if loaded != wanted:
        detail = (
            f"The index of space {space} was made by {_described(wanted)}, but {_described(loaded)} is loaded, "
            "whose vectors mean something else. Set RAGSTONE_EMBEDDER back, or build the index anew."
        )
        raise RagstoneError(ErrorCode.INDEX_INCOMPATIBLE, detail)


def _described(embedder: EmbedderIdentity) -> str:
    prompts = f"prompts {embedder.query_prompt!r} and {embedder.document_prompt!r}"
    return f"{embedder.name} (revision {embedder.revision[:12]}, dimension {embedder.dimension}, {prompts})"
