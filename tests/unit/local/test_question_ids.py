"""Foreign document ids, and the names and samples of question sets."""

import string

from hypothesis import given
from hypothesis import strategies as st

from services.local.question_files.ids import document_id_of, foreign_id
from services.local.question_files.sets import sample, space_for
from services.shared.contracts.documents import document_id_fault
from services.shared.contracts.golden import Question

HARD = st.text(st.sampled_from("./ %:aid\n\t\u2028\ud800é#?"), min_size=1, max_size=20)
QUESTIONS = [Question(id=f"q{n}", text="Why?") for n in range(40)]


@given(st.one_of(HARD, st.text(min_size=1, max_size=40)))
def test_any_id_can_be_used_and_read_back(foreign: str) -> None:
    document_id = document_id_of(foreign)
    assert document_id_fault(document_id) is None
    assert foreign_id(document_id) == foreign


@given(HARD, HARD)
def test_two_ids_never_become_one(one: str, other: str) -> None:
    assert (document_id_of(one) == document_id_of(other)) == (one == other)


def test_an_ordinary_id_stays_what_it_is() -> None:
    assert document_id_of("MED-10") == "MED-10"
    assert document_id_of("pages/leave.md") == "pages/leave.md"
    assert document_id_of("/a/../b") == "id:%2Fa%2F..%2Fb"


@given(st.text(max_size=100))
def test_a_space_can_always_be_named(name: str) -> None:
    space = space_for(name)
    assert 1 <= len(space) <= 63
    assert set(space) <= set(string.ascii_lowercase + string.digits + "_-")
    assert space_for("qa.SQuAD 2") == "eval-qa-squad-2"


def test_a_sample_depends_on_the_seed_and_not_on_the_order() -> None:
    drawn = sample(QUESTIONS, 7, seed=1)
    assert len(drawn) == 7
    assert drawn == sorted(drawn, key=QUESTIONS.index)
    assert {q.id for q in sample(QUESTIONS[::-1], 7, seed=1)} == {q.id for q in drawn}
    assert sample(QUESTIONS, 7, seed=2) != drawn
    assert sample(QUESTIONS, 100, seed=1) == QUESTIONS
