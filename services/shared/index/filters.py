"""What the filters of a question ask for: one reading of them for both the vectors and BM25."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from services.shared.contracts.search import Filters


@dataclass(frozen=True)
class Wanted:
    """Filters made plain: ``None`` does not filter, several types or documents are any of them, tags are all."""

    types: frozenset[str] | None = None
    documents: frozenset[str] | None = None
    tags: frozenset[str] = frozenset()

    @property
    def everything(self) -> bool:
        return self.types is None and self.documents is None and not self.tags

    @property
    def nothing(self) -> bool:
        """Any of no types or of no documents: nothing can fit, so nothing needs to be searched."""
        return self.types == frozenset() or self.documents == frozenset()

    def fits(self, document: str, type: str | None, tags: Iterable[str]) -> bool:
        """Does a document with this description pass?"""
        return (
            (self.types is None or type in self.types)
            and (self.documents is None or document in self.documents)
            and self.tags.issubset(tags)
        )


def wanted(filters: Filters | None) -> Wanted:
    """``None`` and fields left out do not filter; an empty list of types or documents fits nothing."""
    if filters is None:
        return Wanted()
    return Wanted(
        types=_any_of(filters.type), documents=_any_of(filters.document_id), tags=frozenset(filters.tags or ())
    )


def where(wish: Wanted) -> dict[str, Any] | None:
    """Chroma's ``where``; None when there is nothing to filter by, because Chroma refuses an empty one."""
    clauses: list[dict[str, Any]] = []
    if wish.types is not None:
        clauses.append({"type": {"$in": sorted(wish.types)}})
    if wish.documents is not None:
        clauses.append({"document_id": {"$in": sorted(wish.documents)}})
    clauses.extend({"tags": {"$contains": tag}} for tag in sorted(wish.tags))
    if len(clauses) > 1:
        return {"$and": clauses}
    return clauses[0] if clauses else None


def _any_of(value: str | list[str] | None) -> frozenset[str] | None:
    if value is None:
        return None
    return frozenset([value] if isinstance(value, str) else value)
