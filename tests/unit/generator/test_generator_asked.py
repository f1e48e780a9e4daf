"""A question is taken to pieces: names, numbers, telling words, what it wants."""

import pytest

from services.generator.domain.asked import Asked
from services.generator.domain.parts import parts, without_talk
from services.generator.domain.signals import broken_name
from tests.unit.generator.fakes import passage


def test_names_numbers_and_telling_words() -> None:
    asked = Asked.of("Which church runs the 3 schools that Zoë Maréchal visited in 1998?")
    assert asked.names == ("zoë", "maréchal")
    assert asked.numbers == {"3", "1998"}
    assert asked.plain == ("school", "visit")
    assert asked.full_names == (("zoë", "maréchal"),)


def test_number_words_are_numbers_from_two_on() -> None:
    assert Asked.of("Why does it run seven sensors and one lamp?").numbers == {"7"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Juno Tarkwell's queue library do?", "What does queue library do?"),
        ("Does Junoesque Juno row?", "Does Junoesque row?"),
        ("Who is Juno Tarkwell?", "Who is Juno Tarkwell?"),
    ],
)
def test_the_subject_is_left_out_unless_too_little_is_left(question: str, expected: str) -> None:
    assert Asked.of(question, ["Juno", "Juno Tarkwell"]).text == expected


@pytest.mark.parametrize(
    ("question", "yes_or_no", "wants_all", "denies"),
    [
        ("Has she run Kubernetes?", True, False, False),
        ("List every employer.", False, True, False),
        ("What is not a primary law?", False, False, True),
        ("When does the dock open?", False, False, False),
    ],
)
def test_what_is_wanted(question: str, yes_or_no: bool, wants_all: bool, denies: bool) -> None:
    asked = Asked.of(question)
    assert (asked.yes_or_no, asked.wants_all, asked.denies) == (yes_or_no, wants_all, denies)


def test_a_name_is_broken_only_where_both_words_belong_to_others() -> None:
    people = [passage("Anna Berg rows. Peter Lind sails.")]
    assert broken_name(Asked.of("Does Anna Lind row?"), people)
    assert not broken_name(Asked.of("Does Anna Berg row?"), people)
    assert not broken_name(Asked.of("Does Anna Sund row?"), people)


def test_sub_questions_go_before_own_splitting() -> None:
    question = "When does the mill open and how much is a ticket?"
    assert parts(question, ["One thing?", "Another thing?"]) == ("One thing?", "Another thing?")
    assert parts(question, []) == ("When does the mill open?", "How much is a ticket?")
    assert parts("When does the mill open?", []) == ("When does the mill open?",)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Short answers only! Which tests does Juno prefer?", "Which tests does Juno prefer?"),
        ("I am in a hurry. Which camp has the largest pond?", "Which camp has the largest pond?"),
        ("Twice a key came back to bite. Which systems was that?", None),
        ("Why?", None),
    ],
)
def test_talk_around_a_question_is_left_out_unless_it_leans_on_it(question: str, expected: str | None) -> None:
    assert without_talk(question) == (expected or question)


@pytest.mark.parametrize(
    ("question", "plain", "names"),
    [
        ("What does LQ-3007 mean?", (), ("lq-3007",)),
        ("How many boats does Juno Tarkwell have?", ("boat",), ()),
        ("How many boats has Ines built?", ("build",), ("ine",)),
    ],
)
def test_words_that_only_ask_tell_nothing_and_the_kind_only_where_nothing_else_does(
    question: str, plain: tuple[str, ...], names: tuple[str, ...]
) -> None:
    asked = Asked.of(question, ["Juno Tarkwell"])
    assert (asked.plain, asked.names) == (plain, names)
