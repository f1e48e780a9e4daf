"""A golden question whose passage is gone or changed is not asked, from the moment when it is."""

import contextlib

import pytest
from sqlalchemy import event

from services.shared.catalog import documents, golden
from services.shared.catalog.engine import Catalog
from services.shared.contracts.golden import GoldenImported
from services.shared.contracts.ids import DocumentId
from tests.contract.catalog.asking import DOC, asked, flag, kept, put, question
from tests.contract.catalog.building import (
    NOW,
    OTHER,
    SPACE,
    OnPurpose,
    break_off,
    draft,
    ingest,
    publish,
    save,
    submit,
)


@pytest.mark.parametrize("quote", ["text of one", "of", "  text\n\tof  one ", None])
def test_a_quote_stands_word_for_word_or_with_other_white_space(catalog: Catalog, quote: str | None) -> None:
    with catalog.write() as tx:
        ingest(tx)
        assert put(tx, question("q", ("doc", quote))).flagged == 0
        assert asked(tx) == ["q"]


@pytest.mark.parametrize(("document", "quote"), [("doc", "text of two"), ("doc", "textof"), ("other", None)])
def test_a_question_without_its_passage_is_taken_in_and_not_asked(
    catalog: Catalog, document: str, quote: str | None
) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ingest(tx, "other", space=OTHER)
        assert put(tx, question("q", ("doc", "text"), (document, quote))).flagged == 1
        assert document in (flag(tx) or "")
        assert asked(tx) == []


def test_a_staged_document_bears_nothing_out(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        revision = submit(tx, sent)
        save(tx, sent)
        assert put(tx, question("q", ("doc", "text of one"))).flagged == 1
        publish(tx, sent, revision)
        assert flag(tx) is None


def test_a_changed_passage_flags_at_once_and_an_old_one_that_is_back_unflags(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        put(tx, question("q", ("doc", "text of one")), question("whole", ("doc", None)), question("free"))
        assert asked(tx) == ["free", "q", "whole"]
        ingest(tx, content="two")
        assert "text of one" in (flag(tx) or "")
        assert asked(tx) == ["free", "whole"]
        assert put(tx, question("q", ("doc", "text of one"))).unchanged == 1
        ingest(tx, content="one", title="Other")
        assert asked(tx) == ["free", "q", "whole"]
        assert kept(tx).updated_at == NOW


def test_a_deletion_flags_what_names_the_document_and_sending_it_again_unflags(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        ingest(tx, "kept")
        put(tx, question("q", ("doc", "text of one")), question("whole", ("doc", None)), question("k", ("kept", None)))
        documents.remove(tx, SPACE, DOC, NOW)
        assert asked(tx) == ["k"]
        assert golden.counts(tx, SPACE) == {"proposed": 0, "approved": 3, "rejected": 0, "flagged": 2}
        ingest(tx)
        assert asked(tx) == ["k", "q", "whole"]


def test_a_question_is_flagged_until_all_its_passages_stand(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
        ingest(tx, "b")
        put(tx, question("q", ("a", "text of one"), ("b", "text of one")))
        ingest(tx, "b", "two")
        ingest(tx, "a", "two")
        assert "'a'" in (flag(tx) or "")
        ingest(tx, "a", "one", title="Back")
        assert "'b'" in (flag(tx) or "")
        ingest(tx, "b", "one", title="Back")
        assert flag(tx) is None


def test_following_says_how_many_are_newly_flagged(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        put(tx, *(question(f"q{n}", ("doc", "text of one"), ("doc", "of one")) for n in range(3)))
        assert golden.follow(tx, SPACE, DOC, "something else") == 3
        assert golden.follow(tx, SPACE, DOC, "something else again") == 0
        assert golden.follow(tx, SPACE, DOC, "it says of one") == 0
        assert flag(tx, "q0") is not None
        assert golden.follow(tx, SPACE, DOC, "the text of one") == 0
        assert golden.follow(tx, SPACE, DOC, None) == 3


def test_a_publication_that_rolls_back_flags_nothing(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        put(tx, question("q", ("doc", "text of one")))
    with contextlib.suppress(OnPurpose), catalog.write() as tx:
        ingest(tx, content="two")
        assert flag(tx) is not None
        break_off()
    with catalog.read() as tx:
        assert flag(tx) is None


def test_a_replaced_question_follows_its_new_passages_alone(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
        ingest(tx, "b")
        put(tx, question("q", ("a", "text of one"), ("b", None)))
        put(tx, question("q", ("b", "text of one")))
        documents.remove(tx, SPACE, DocumentId("a"), NOW)
        assert flag(tx) is None
        documents.remove(tx, SPACE, DocumentId("b"), NOW)
        assert flag(tx) is not None


def test_a_document_that_no_question_names_costs_one_look_up(catalog: Catalog) -> None:
    statements: list[str] = []
    with catalog.write() as tx:
        put(tx, question("q", ("elsewhere", None)))
        sent = draft()
        revision = submit(tx, sent)
        save(tx, sent)
        event.listen(tx, "before_cursor_execute", lambda *told: statements.append(told[2]))
        publish(tx, sent, revision)
    named = [one for one in statements if "golden" in one]
    assert len(named) == 1
    assert not any("versions.text" in one for one in statements)


def test_a_removed_question_leaves_no_passage_behind(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        put(tx, question("q", ("doc", "text of one")))
        assert golden.remove(tx, SPACE, "q")
        assert golden.follow(tx, SPACE, DOC, None) == 0
        put(tx, question("q"))
        assert flag(tx) is None


def test_a_large_set_is_taken_in_and_followed(catalog: Catalog) -> None:
    """More questions than a statement takes variables."""
    many = [question(f"q{n:05d}", ("doc", "text of one"), (f"d{n % 700}", None)) for n in range(1300)]
    with catalog.write() as tx:
        ingest(tx)
        ingest(tx, "d7")
        assert put(tx, *many) == GoldenImported(added=1300, replaced=0, unchanged=0, flagged=1298)
        assert asked(tx) == ["q00007", "q00707"]
        assert put(tx, *many).unchanged == 1300
        assert golden.follow(tx, SPACE, DOC, "another text") == 2
        assert golden.follow(tx, SPACE, DOC, "the text of one") == 0
        assert len(asked(tx)) == 2
