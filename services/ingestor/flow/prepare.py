"""From the text of a document to a version that is ready to be embedded."""

from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted, Incoming, Prepared, describe, kind_of_document, title_of
from services.ingestor.ports.content import Embedder
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId


def prepare(
    tools: Tools, embedder: Embedder, incoming: Incoming, version_id: VersionId, extracted: Extracted
) -> Prepared:
    """The version with its text, description and chunks; raises RagstoneError naming the file."""
    limits = Limits(tools.rules.chunk_words, embedder.max_tokens())
    title, kind = title_of(incoming, extracted), kind_of_document(incoming, extracted)
    chunks = cut(extracted, title, limits, embedder.count_tokens, kind)
    if not chunks:
        raise RagstoneError(ErrorCode.DOCUMENT_EMPTY, f"no text was found in {incoming.name}")
    if len(chunks) > tools.rules.max_chunks:
        detail = (
            f"{incoming.name} would become {len(chunks):,} chunks and the limit is {tools.rules.max_chunks:,}; "
            "split it, or raise RAGSTONE_MAX_CHUNKS"
        )
        raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
    return describe(incoming, version_id, extracted, chunks)
