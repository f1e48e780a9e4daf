"""What a made question must not do: take an empty yes for right, go without an answer, or be half answerable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.golden import Behaviour, Question
from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.rules import make
from services.shared.evaluation.golden.unanswerable import near_miss
from services.shared.evaluation.golden.words import Corpus
from services.shared.evaluation.reviewers.accuracy import AccuracyCase, by_rule
from tests.unit.evaluation_golden.documents import corpus, document

AFFIRMED = [
    ("has not", "has", "run a production Kubernetes cluster"),
    ("has never", "has", "given a talk in Dutch"),
    ("does not", "does", "publish a telephone number"),
    ("is not", "is", "used for official flood warnings"),
    ("would not", "would", "work an unpaid week again"),
    ("did not", "did", "sell the house at Alderton"),
    ("cannot", "can", "draw a portrait of a horse"),
    ("has no", "has", "adapter for Amazon SQS"),
]
EMPTY = [
    "Yes.",
    "Yes, certainly.",
    "No.",
    "There is no doubt about it.",
    "Yes. There is no doubt about it.",
    "She certainly does, at no charge.",
    "She does not publish anything else.",
]


def _passes(question: Question, answer: str) -> bool:
    review = by_rule(AccuracyCase(question.text, question.expected, question.facts, question.needed, answer))
    assert review is not None
    return review.passed


@given(
    st.sampled_from(AFFIRMED),
    st.sampled_from(["Juno Tarkwell", "Saltmarsh", "Théo Vandersmissen"]),
    st.sampled_from(["", " since March 2019", " in Ghent"]),
)
def test_a_question_whose_answer_is_no_is_not_answered_by_a_yes(
    parts: tuple[str, str, str], who: str, more: str
) -> None:
    denied, affirmed, what = parts
    sentence = f"{who} {denied} {what}{more}."
    others = [document("Juno Tarkwell and Théo Vandersmissen met at Saltmarsh.", id=f"{n}.md") for n in range(3)]
    made = make([document(sentence, title="Notes"), *others], 50, 0)
    found = [question for question in made if "negative_fact" in question.tags]
    assert found
    for question in found:
        assert _passes(question, sentence)
        assert _passes(question, f"No, {sentence[:1].lower()}{sentence[1:]}")
        yes = f"{who} {affirmed} {what}{more}."
        assert not any(_passes(question, answer) for answer in (*EMPTY, yes, f"Yes, {yes}", f"No doubt, {yes}"))
        assert not any(words in sentence for words in question.must_not)


def test_an_affirmation_that_can_be_formed_must_not_be_said() -> None:
    made = make([document("Juno Tarkwell has never shipped a mobile app.", title="Notes")], 20, 0)
    assert [question.must_not for question in made if question.tags == ["negative_fact"]] == [
        ["has shipped a mobile app"]
    ]


def test_every_answerable_question_says_what_is_right() -> None:
    pool = document(
        "## Opening hours\n\nThe pool opens at 7 on weekdays. Nobody is let in before then, whatever they say.\n\n"
        "## Prices of the pool\n\n| Ticket | Price |\n|---|---|\n| Adult swimmers | four euros |\n"
        "| Children under 12 years | two euros |\n| Dogs on the last day of the season | one euro |",
        questions=["When can I swim?", "What do tickets for adults cost?", "Is there parking?", "How old is it?"],
    )
    made = [question for question in make([pool], 50, 0) if question.behaviour is Behaviour.ANSWER]
    assert made
    assert all(question.facts or question.expected for question in made)


@pytest.mark.parametrize(
    "text",
    [
        "How good is she at Gravel, Kafka or Terraform?",
        "Why did she use Kafka for one and Gravel for the other?",
        "When did Juno Tarkwell give the talk Gravel at Utrecht?",
        "When did Gravel send 1,214 duplicate payouts?",
        "Who was laid off by Gravel?",
        "How many parcels did Gravel lose in one night in March?",
        "Gravel: what did Kafka replace?",
    ],
)
def test_of_a_question_of_several_things_or_of_a_fact_that_stands_there_no_near_miss_is_made(text: str) -> None:
    assert near_miss(Draft(text, "question", document("x").document_id), _talks()) is None


@pytest.mark.parametrize("text", ["What is Gravel?", "What does she think about Gravel?", "Why did she leave Gravel?"])
def test_of_a_question_about_one_name_a_near_miss_is_made(text: str) -> None:
    draft = near_miss(Draft(text, "question", document("x").document_id), _talks())
    assert draft is not None
    assert "Gravel" not in draft.text


def _talks() -> Corpus:
    return corpus(
        document(
            "Juno Tarkwell gave the talk Queues at Utrecht. At Gravel, parcels were lost in one night in March, and "
            "Gravel sent 1,214 duplicate payouts. Kafka and Terraform came later than Gravel."
        ),
        *(document("Juno Tarkwell says more.", id=f"{n}.md", title="Other") for n in range(3)),
    )


@pytest.mark.parametrize(
    ("sentence", "cut"),
    [
        ("Juno Tarkwell has given five public talks between November 2018 and May 2025.", "between November 2018?"),
        ("Bookings reserved a lane position for 20 minutes and lost it.", "did Bookings"),
    ],
)
def test_no_question_is_cut_short(sentence: str, cut: str) -> None:
    rest = document("A booking is made by Juno Tarkwell, and every booking is kept.", id="b.md", title="Booking")
    assert not any(cut in question.text for question in make([document(sentence, title="Slipway"), rest], 50, 0))


@pytest.mark.parametrize(
    ("sentence", "wrong", "right"),
    [
        ("Saltmarsh Ledger employs 85 people.", "It says 85 parsecs.", "It has 85 people."),
        ("Alderton keeps 20 lockers.", "20 parsecs.", "Twenty lockers."),
        (
            "The median delay of Quayside fell from 40 to 25 minutes.",
            "From 40 parsecs to 25 minutes.",
            "From 40 to 25 minutes.",
        ),
    ],
)
def test_a_number_counts_with_what_it_counts(sentence: str, wrong: str, right: str) -> None:
    found = [question for question in make([document(sentence, title="Notes")], 50, 0) if question.facts]
    assert found
    assert all(_passes(question, right) and _passes(question, sentence) for question in found)
    assert not any(_passes(question, wrong) for question in found)
