"""Golden questions as the catalog's tests make and look at them."""

from sqlalchemy import Connection

from services.shared.catalog import golden
from services.shared.contracts.golden import (
    GoldenImported,
    GoldenIn,
    GoldenOrigin,
    GoldenQuestion,
    GoldenState,
    GoldSpan,
    Question,
)
from services.shared.contracts.ids import DocumentId, SpaceId
from tests.contract.catalog.building import SPACE, later

DOC = DocumentId("doc")
PROPOSED, APPROVED, REJECTED = GoldenState.PROPOSED, GoldenState.APPROVED, GoldenState.REJECTED


def question(id: str = "q", *spans: tuple[str, str | None], text: str = "When?") -> Question:
    return Question(id=id, text=text, gold=[GoldSpan(document_id=DocumentId(at), quote=quote) for at, quote in spans])


def put(
    tx: Connection,
    *questions: Question,
    state: GoldenState = APPROVED,
    origin: GoldenOrigin = GoldenOrigin.OWNER,
    space: SpaceId = SPACE,
    seconds: float = 0,
) -> GoldenImported:
    items = [GoldenIn(question=one, state=state) for one in questions]
    return golden.put(tx, space, items, origin, later(seconds))


def kept(tx: Connection, id: str = "q", space: SpaceId = SPACE) -> GoldenQuestion:
    found = golden.get(tx, space, id)
    assert found is not None
    return found


def flag(tx: Connection, id: str = "q") -> str | None:
    return kept(tx, id).flagged


def asked(tx: Connection, space: SpaceId = SPACE) -> list[str]:
    return [one.id for one in golden.approved(tx, space)]
