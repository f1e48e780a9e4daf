"""What the tools need of a gateway, near or far."""

from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.search import SearchRequest, SearchResponse


@dataclass(frozen=True)
class VersionText:
    """The extracted text of one version of a document."""

    document_id: DocumentId
    version: VersionId
    text: str


class Library(Protocol):
    """The documents of one space, as one caller may see them. Every call raises RagstoneError."""

    async def search(self, request: SearchRequest) -> SearchResponse:
        """Passages, no writing."""
        ...

    async def ask(self, request: AskRequest) -> Answer:
        """The whole answer."""
        ...

    async def text(self, document_id: DocumentId, version: VersionId | None) -> VersionText:
        """A version's text; the live one's when none is named."""
        ...

    async def documents(self, type: str | None, cursor: str | None, limit: int) -> DocumentList:
        """A page of the live documents, by id."""
        ...

    async def document(self, document_id: DocumentId) -> Document:
        """One live document."""
        ...
