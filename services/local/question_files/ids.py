"""Ids of foreign documents, as the gateway takes them; reversible, so that a report can be read against its source."""

from urllib.parse import quote, unquote

from services.shared.contracts.documents import document_id_fault

_MARK = "id:"


def document_id_of(foreign: str) -> str:
    """The id itself where the gateway takes it; else it is percent-encoded behind ``id:``.

    An id that begins with ``id:`` is encoded too, so that no two ids ever become one.
    """
    if document_id_fault(foreign) is None and not foreign.startswith(_MARK):
        return foreign
    return _MARK + quote(foreign, safe="", errors="surrogatepass")


def foreign_id(document_id: str) -> str:
    """What ``document_id_of`` was given."""
    if document_id.startswith(_MARK):
        return unquote(document_id.removeprefix(_MARK), errors="surrogatepass")
    return document_id
