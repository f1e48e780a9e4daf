"""Documents as addresses that an agent can open: ragstone://documents/<id>."""

from urllib.parse import quote, unquote

from services.shared.contracts.ids import DocumentId

TEMPLATE = "ragstone://documents/{id}"
_BEFORE = TEMPLATE.removesuffix("{id}")


def address(id: DocumentId) -> str:
    """The address of a document; whatever its id holds stands in it as one step."""
    return _BEFORE + quote(id, safe="")


def addressed(uri: str) -> DocumentId | None:
    """The document of an address; None when it is not one of ours."""
    before, _, id = uri.partition(_BEFORE)
    return DocumentId(unquote(id)) if id and not before else None
