"""What the filters of a question ask for: one reading of them for both the vectors and BM25."""

import hashlib
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
    """Chroma's ``where``; None when there is nothing to filter by, because Chroma refuses an empty one.

    Types and tags are looked for as they are stored now, and as an earlier release stored them.
    """
    clauses: list[dict[str, Any]] = []
    if wish.types is not None:
        clauses.append({"type": {"$in": sorted(form for name in wish.types for form in (name, stored(name)))}})
    if wish.documents is not None:
        clauses.append({"document_id": {"$in": sorted(wish.documents)}})
    for tag in sorted(wish.tags):
        clauses.append({"$or": [{"tags": {"$contains": form}} for form in (tag, stored(tag))]})
    if len(clauses) > 1:
        return {"$and": clauses}
    return clauses[0] if clauses else None


def stored(word: str) -> str:
    """A type or tag as Chroma gets it: its files keep what was deleted for a while, and should not keep words."""
    return hashlib.sha256(word.encode()).hexdigest()[:32]


def _any_of(value: str | list[str] | None) -> frozenset[str] | None:
    if value is None:
        return None
    return frozenset([value] if isinstance(value, str) else value)
