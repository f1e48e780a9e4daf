"""Do the passages that golden questions name stand in the live documents? A question is flagged while one does not.

The flags change in the transaction that changes the document, so that no evaluation asks by a text that is gone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from services.shared.catalog import measuring, schema
from services.shared.contracts.golden import Question
from services.shared.contracts.ids import DocumentId, SpaceId

PER_QUERY = 500
"""Ids in one statement; SQLite takes a limited number of variables."""

SHOWN = 60
"""Characters of a quote that a flag repeats, so that the owner knows which."""

Named = tuple[DocumentId, str | None]
"""A document, and a quote of it or the whole."""

_s, _g, _d, _v = measuring.golden_spans.c, measuring.golden.c, schema.documents.c, schema.versions.c

_OF_DOCUMENT = (_s.space_id == bindparam("space"), _s.document_id == bindparam("document"))
_NAMED = select(_s.golden_id).where(*_OF_DOCUMENT).limit(1)
_NAMING = select(_s.golden_id, _s.n, _s.quote, _s.fault).where(*_OF_DOCUMENT)
_LIVE_TEXT = (
    select(_v.text)
    .join_from(
        schema.documents,
        schema.versions,
        and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id),
    )
    .where(_d.space_id == bindparam("space"), _d.id == bindparam("document"))
)
_NOTE = (
    update(measuring.golden_spans)
    .where(_s.space_id == bindparam("space"), _s.golden_id == bindparam("golden"), _s.n == bindparam("at"))
    .values(fault=bindparam("new_fault"))
)
_FLAG = (
    update(measuring.golden)
    .where(_g.space_id == bindparam("space"), _g.id == bindparam("golden"))
    .values(flagged=bindparam("new_flag"))
)


def follow(tx: Connection, space: SpaceId, document_id: DocumentId, text: str | None) -> int:
    """Flags the questions whose passage of this document the new ``text`` (None: deleted) does not hold.

    Those that it holds again lose their flag. Gives how many are newly flagged; one look-up when no question
    names the document.
    """
    this = {"space": space, "document": document_id}
    source = None if text is None else _Source(text)
    changes = [
        {"space": space, "golden": row.golden_id, "at": row.n, "new_fault": fault}
        for row in tx.execute(_NAMING, this).all()
        if (fault := _fault(document_id, row.quote, source)) != row.fault
    ]
    if not changes:
        return 0
    tx.execute(_NOTE, changes)
    return _flag_anew(tx, space, sorted({str(change["golden"]) for change in changes}))


def follow_live(tx: Connection, space: SpaceId, document_id: DocumentId) -> int:
    """``follow`` for the version that has just become live; its text is read only when a question names it."""
    this = {"space": space, "document": document_id}
    if tx.execute(_NAMED, this).first() is None:
        return 0
    return follow(tx, space, document_id, tx.execute(_LIVE_TEXT, this).scalar_one_or_none())


def faults(tx: Connection, space: SpaceId, named: Iterable[Named]) -> dict[Named, str]:
    """Those of the passages that do not stand in a live document, each with what is wrong."""
    quotes: defaultdict[DocumentId, set[str | None]] = defaultdict(set)
    for document_id, quote in named:
        quotes[document_id].add(quote)
    there = live(tx, space, quotes)
    found: dict[Named, str] = {}
    for document_id, wanted in quotes.items():
        source: _Source | None = None
        if document_id in there:
            # A text may be large, so it is read only for quotes, and one document at a time.
            named_whole = wanted == {None}
            text = "" if named_whole else tx.execute(_LIVE_TEXT, {"space": space, "document": document_id}).scalar_one()
            source = _Source(text)
        for quote in wanted:
            if fault := _fault(document_id, quote, source):
                found[(document_id, quote)] = fault
    return found


def first_fault(question: Question, faults: Mapping[Named, str]) -> str | None:
    """Why the question is to be flagged; None when it is not."""
    return next(
        (fault for span in question.gold if (fault := faults.get((span.document_id, span.quote))) is not None), None
    )


def write(tx: Connection, space: SpaceId, questions: Iterable[Question], faults: Mapping[Named, str]) -> None:
    """Writes down which passages new questions name."""
    rows = [
        {
            "space_id": space,
            "golden_id": question.id,
            "n": n,
            "document_id": span.document_id,
            "quote": span.quote,
            "fault": faults.get((span.document_id, span.quote)),
        }
        for question in questions
        for n, span in enumerate(question.gold)
    ]
    if rows:
        tx.execute(insert(measuring.golden_spans), rows)


class _Source:
    """A text to look quotes up in: word for word, else with each run of white space as one blank."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, quote: str) -> bool:
        return quote in self._text or _blanks(quote) in self._evened

    @cached_property
    def _evened(self) -> str:
        return _blanks(self._text)


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _fault(document_id: DocumentId, quote: str | None, source: _Source | None) -> str | None:
    if source is None:
        return f"document {document_id[:80]!r} is not in this space"
    if quote is None or source.holds(quote):
        return None
    shown = quote if len(quote) <= SHOWN else f"{quote[:SHOWN]}…"
    return f"document {document_id[:80]!r} does not hold the passage {shown!r}"


def live(tx: Connection, space: SpaceId, documents: Collection[DocumentId]) -> set[DocumentId]:
    """Those of the documents that answer now."""
    wanted = list(documents)
    found: set[DocumentId] = set()
    for begin in range(0, len(wanted), PER_QUERY):
        some = _d.id.in_(wanted[begin : begin + PER_QUERY])
        found.update(
            tx.execute(select(_d.id).where(_d.space_id == space, some, _d.live_version_id.is_not(None))).scalars()
        )
    return found


def _flag_anew(tx: Connection, space: SpaceId, golden_ids: list[str]) -> int:
    newly = 0
    for begin in range(0, len(golden_ids), PER_QUERY):
        some = golden_ids[begin : begin + PER_QUERY]
        before = tx.execute(select(_g.id, _g.flagged).where(_g.space_id == space, _g.id.in_(some))).all()
        faulty = select(_s.golden_id, _s.fault).where(_s.space_id == space, _s.golden_id.in_(some))
        first: dict[str, str] = {}
        for golden_id, fault in tx.execute(faulty.where(_s.fault.is_not(None)).order_by(_s.golden_id, _s.n)):
            first.setdefault(golden_id, fault)
        newly += sum(flagged is None and id in first for id, flagged in before)
        tx.execute(_FLAG, [{"space": space, "golden": id, "new_flag": first.get(id)} for id in some])
    return newly
