"""Golden questions: what an owner decides stands, page by page and in its space."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from sqlalchemy import Connection

from services.shared.catalog import documents, golden
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import GoldenImported, GoldenOrigin, GoldenQuestion, GoldSpan, Question
from services.shared.contracts.ids import SpaceId
from tests.contract.catalog.asking import APPROVED, DOC, PROPOSED, REJECTED, asked, kept, put, question
from tests.contract.catalog.building import NOW, OTHER, SPACE, ingest, later


def test_a_question_comes_back_whole(catalog: Catalog) -> None:
    whole = Question(
        id="q/ä 1",
        text="Wann öffnet der Schuppen? 😀",
        kind="hours",
        expected="Um neun.",
        facts=[["nine", "9:00"], ["daily"]],
        needed=1,
        must_not=["ten"],
        gold=[GoldSpan(document_id=DOC, quote="text of one", grade=2), GoldSpan(document_id=DOC)],
        tags=["two_part"],
        language="de",
    )
    with catalog.write() as tx:
        ingest(tx)
        assert put(tx, whole) == GoldenImported(added=1, replaced=0, unchanged=0, flagged=0)
    with catalog.read() as tx:
        found = kept(tx, whole.id)
        assert golden.approved(tx, SPACE) == [whole]
    assert found == GoldenQuestion(
        question=whole, state=APPROVED, origin=GoldenOrigin.OWNER, flagged=None, updated_at=NOW
    )


def test_the_same_import_again_changes_nothing(catalog: Catalog) -> None:
    sent = [question("a", ("gone", None)), question("b")]
    with catalog.write() as tx:
        assert put(tx, *sent) == GoldenImported(added=2, replaced=0, unchanged=0, flagged=1)
        assert put(tx, *sent, seconds=5) == GoldenImported(added=0, replaced=0, unchanged=2, flagged=1)
        assert kept(tx, "a").updated_at == NOW
        changed = [sent[0], question("b", text="Where?"), question("c")]
        assert put(tx, *changed, seconds=9) == GoldenImported(added=1, replaced=1, unchanged=1, flagged=1)
        assert (kept(tx, "b").question.text, kept(tx, "b").updated_at) == ("Where?", later(9))


def test_who_approves_a_question_did_not_write_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        golden.propose(tx, SPACE, [question()], GoldenOrigin.RULE, NOW)
        put(tx, question())
        assert (kept(tx).state, kept(tx).origin) == (APPROVED, GoldenOrigin.RULE)
        put(tx, question(text="Since when?"))
        assert kept(tx).origin is GoldenOrigin.OWNER


def test_the_last_of_two_with_one_id_counts(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert put(tx, question(text="First?"), question(text="Second?")).added == 1
        assert kept(tx).question.text == "Second?"


def test_a_proposal_never_overrides_a_decision(catalog: Catalog) -> None:
    with catalog.write() as tx:
        put(tx, question("approved"))
        put(tx, question("rejected"), state=REJECTED)
        proposals = [question(id, text="Anew?") for id in ("approved", "rejected", "new", "new")]
        assert golden.propose(tx, SPACE, proposals, GoldenOrigin.MODEL, NOW) == 1
        assert golden.propose(tx, SPACE, proposals, GoldenOrigin.MODEL, NOW) == 0
        states = {id: (kept(tx, id).state, kept(tx, id).question.text) for id in ("approved", "rejected", "new")}
        assert states == {
            "approved": (APPROVED, "When?"),
            "rejected": (REJECTED, "When?"),
            "new": (PROPOSED, "Anew?"),
        }
        assert kept(tx, "new").origin is GoldenOrigin.MODEL
        assert asked(tx) == ["approved"]


def test_spaces_keep_their_questions_apart(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        put(tx, question("q", ("doc", "text of one")))
        assert put(tx, question("q", ("doc", "text of one")), space=OTHER).flagged == 1
        ingest(tx, space=OTHER)
        assert asked(tx, OTHER) == ["q"]
        documents.remove(tx, OTHER, DOC, NOW)
        assert (asked(tx), asked(tx, OTHER)) == (["q"], [])
        assert golden.remove(tx, OTHER, "q")
        assert golden.get(tx, OTHER, "q") is None
        assert asked(tx) == ["q"]
        assert not golden.remove(tx, OTHER, "q")
        assert golden.page(tx, OTHER, states=None, flagged=None, limit=5, cursor=None).items == []


@pytest.mark.parametrize("limit", [1, 2, 5, 50])
def test_pages_are_complete_ordered_by_id_and_filtered(catalog: Catalog, limit: int) -> None:
    with catalog.write() as tx:
        put(tx, *(question(id) for id in ["b", "A", "ä", "c"]))
        put(tx, question("r"), state=REJECTED)
        put(tx, question("f", ("gone", None)))
    ids: list[str] = []
    with catalog.read() as tx:
        cursor: str | None = None
        while True:
            page = golden.page(tx, SPACE, states=[APPROVED, PROPOSED], flagged=False, limit=limit, cursor=cursor)
            assert page.counts == {"proposed": 0, "approved": 5, "rejected": 1, "flagged": 1}
            ids += [one.question.id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        flagged = golden.page(tx, SPACE, states=None, flagged=True, limit=9, cursor=None)
        with pytest.raises(RagstoneError) as refused:
            golden.page(tx, SPACE, states=None, flagged=None, limit=9, cursor="nonsense")
    assert ids == sorted(["A", "b", "c", "ä"])
    assert [one.question.id for one in flagged.items] == ["f"]
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("look", [golden.get, golden.remove])
def test_a_zero_character_in_an_id_is_the_askers_fault_or_unknown(
    catalog: Catalog, url: str, look: Callable[[Connection, SpaceId, str], object]
) -> None:
    # PostgreSQL takes no such character, and SQLite does.
    told = pytest.raises(RagstoneError) if url.startswith("postgres") else nullcontext()
    with told as refused, catalog.write() as tx:
        assert not look(tx, SPACE, "a\0")
    assert refused is None or refused.value.status == 422
