"""A whole set: owners' questions, sections, the unanswerable, the choice, and that all of it is repeatable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.golden import MADE_OF, Behaviour
from services.shared.evaluation.golden.headings import heading_questions
from services.shared.evaluation.golden.likely import likely
from services.shared.evaluation.golden.material import SourceDocument, likely_questions
from services.shared.evaluation.golden.off_topics import OFF_TOPICS
from services.shared.evaluation.golden.rules import make
from services.shared.evaluation.golden.sentences import sentences_of
from services.shared.evaluation.golden.words import content_words
from services.shared.evaluation.reviewers.accuracy import AccuracyCase, by_rule
from tests.unit.evaluation_golden.documents import corpus, document

NAMES = ["Gravel", "Quayside", "Copperpost", "Slipway", "Tollhouse", "Kelpbox", "Meterfall", "Ledgerline"]


def site() -> list[SourceDocument]:
    """Eight documents with sentences, headings and owners' questions."""
    return [
        document(
            f"## What went wrong\n\n{name} lost {20 + n} parcels in one night, and {name} was switched off on "
            f"{n + 1} May 201{n}. Nobody noticed until the morning.\n\n## How {name} is paid for\n\n"
            f"{name} employs {30 + n} people. {name} is a parcel machine number {n} that sorts post by weight.",
            id=f"{name}.md",
            title=f"{name}, 201{n}",
            questions=[f"How many parcels did {name} lose?"],
            negatives=[f"{name} has not run on solar power."],
        )
        for n, name in enumerate(NAMES)
    ]


def _stands(quote: str | None, bodies: list[str]) -> bool:
    return quote is None or any(quote in body for body in bodies)


def test_a_made_set_is_spread_repeatable_and_anchored_in_the_documents() -> None:
    documents = site()
    questions = make(documents, 40, seed=3)
    assert questions == make(documents, 40, seed=3)
    assert len(questions) == 40
    assert len({question.id for question in questions}) == 40
    bodies = {one.document_id: [passage.body for passage in one.passages] for one in documents}
    for question in questions:
        for span in question.gold:
            assert _stands(span.quote, bodies[span.document_id])
    per_document = [
        sum(question.gold[0].document_id == one for question in questions if question.gold) for one in bodies
    ]
    assert min(per_document) >= 2


def test_what_is_expected_is_right_by_its_own_facts() -> None:
    for question in make(site(), 200, seed=0):
        case = AccuracyCase(question.text, question.expected, question.facts, question.needed, question.expected or "")
        review = by_rule(case) if question.expected else None
        assert review is None or review.passed, (question.text, review)


def test_another_seed_chooses_other_questions_with_the_same_ids() -> None:
    first, second = make(site(), 20, seed=1), make(site(), 20, seed=2)
    assert {question.id for question in first} != {question.id for question in second}
    ids = {question.text: question.id for question in first}
    assert all(ids[question.text] == question.id for question in second if question.text in ids)


def test_about_a_fifth_is_not_answered_by_the_documents() -> None:
    questions = make(site(), 40, seed=0)
    unanswerable = [question for question in questions if question.behaviour is Behaviour.ABSTAIN]
    assert len(unanswerable) == 8
    tags = {tag for question in unanswerable for tag in question.tags}
    assert {tag for tag in tags if not tag.startswith(MADE_OF)} == {"near_miss", "off_topic"}
    near = [question for question in unanswerable if "near_miss" in question.tags]
    assert near
    assert all(any(tag.startswith(MADE_OF) for tag in question.tags) for question in near), (
        "they go with their document"
    )
    assert all(not question.gold and not question.facts for question in unanswerable)


def test_headings_do_not_fill_a_set_up_when_there_is_little_else() -> None:
    text = "\n\n".join(
        f"## How Gravel{n} works\n\nGravel{n} works by night. " + "Many words follow. " * 6 for n in range(60)
    )
    sections = [one for one in make([*site(), document(text, id="big.md")], 2000, 0) if one.kind == "section"]
    assert 5 < len(sections) < 40


def test_a_near_miss_names_what_no_document_knows() -> None:
    documents = site()
    known = corpus(*documents)
    near = [question for question in make(documents, 40, seed=0) if question.kind == "near_miss"]
    assert near
    for question in near:
        assert any(not known.knows(word.strip("?,").removesuffix("'s")) for word in question.text.split())


def test_what_the_documents_do_speak_of_is_not_off_topic() -> None:
    asked = OFF_TOPICS[0]
    about_it = document(" ".join(content_words(asked)) + " and much more of the same.", id="far.md", title="Far")
    texts = {question.text for seed in range(6) for question in make([*site(), about_it], 200, seed)}
    assert asked not in texts
    assert texts & set(OFF_TOPICS)


def test_two_parts_come_from_two_documents_and_both_must_be_answered() -> None:
    double = [question for question in make(site(), 60, seed=0) if question.kind == "two_part"]
    assert double
    for question in double:
        assert len({span.document_id for span in question.gold}) == 2
        assert len(question.facts) >= 2
        assert question.tags == ["two_part"]
        assert ", and " in question.text
        assert question.text.count("?") == 1


def test_negatives_are_tagged_and_asked_with_what_denies_them() -> None:
    found = [question for question in make(site(), 200, seed=0) if "negative_fact" in question.tags]
    assert "Has Quayside run on solar power?" in [question.text for question in found]
    assert all("not run on solar power" in question.facts[0] for question in found)
    assert all(question.must_not == ["has run on solar power"] for question in found)


def test_a_heading_is_asked_as_a_question_with_its_section_as_gold() -> None:
    documents = site()
    found = {draft.text: draft for draft in heading_questions(documents[1], corpus(*documents))}
    assert set(found) == {"Quayside: what went wrong?", "How is Quayside paid for?"}
    assert _stands(found["How is Quayside paid for?"].quotes[0], [documents[1].passages[1].body])


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Requesting paid parental leave", "How do I request paid parental leave?"),
        ("How to open an account", "How do I open an account?"),
        ("Who maintains Tidegate", "Who maintains Tidegate?"),
        ("What Juno is known for", "What is Juno known for?"),
        ("Why Juno left Harrow", "Why did Juno leave Harrow?"),
        ("Which contracts Juno considers", "Which contracts does Juno consider?"),
        ("Would Juno manage full time?", "Would Juno manage full time?"),
        ("Vouchers", 'What does "Handbook" say about vouchers?'),
        ("Overview", None),
        ("See also", None),
        ("For admins", None),
        ("Congratulations!", None),
        ("project checklist", None),
        ("What it does", None),
    ],
)
def test_headings_become_questions_or_nothing(heading: str, question: str | None) -> None:
    body = "Juno Tarkwell wrote these words about vouchers and a checklist for a project so that somebody reads them."
    one = document(f"## {heading}\n\n{body}", title="Handbook")
    others = [document("Another text.", id=f"{n}.md", title=f"Other {n}") for n in range(4)]
    found = [draft.text.removeprefix("Handbook: ") for draft in heading_questions(one, corpus(one, *others))]
    assert [text[:1].upper() + text[1:] for text in found] == ([question] if question else [])


def test_an_owners_question_points_at_the_sentence_or_passage_and_has_a_right_answer() -> None:
    one = document(
        "## Opening hours\n\nThe indoor pool opens at seven on weekdays. Bring a towel.\n\n"
        "## Prices\n\nA ticket is four euros. Children pay half.",
        questions=["When does the indoor pool open on weekdays?", "What are the prices?", "Is there parking?"],
    )
    found = list(likely(one, sentences_of(one), corpus(one, document("x y z", id="b.md", title="B"))))
    assert [draft.text for draft in found] == list(one.questions[:2])
    assert found[1].expected == "A ticket is four euros."
    assert found[0].quotes == ("The indoor pool opens at seven on weekdays.",)
    assert found[1].quotes == ("A ticket is four euros. Children pay half.",)
    assert len(found) == 2, "no words of the document say what is right about parking"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"questions": ["When can she start?", " When  can she start? "]}, ("When can she start?",)),
        ({"questions": "What is it?"}, ("What is it?",)),
        ({"questions": ["people-ops", "ops@example.org", "how do I apply for it"]}, ("how do I apply for it",)),
        ({"questions": [{"a": 1}, None, 7]}, ()),
        ({}, ()),
    ],
)
def test_only_questions_are_taken_from_a_description(metadata: dict[str, object], expected: tuple[str, ...]) -> None:
    assert likely_questions(metadata) == expected


@pytest.mark.parametrize("documents", [[], [document("", title="Empty")], [document("短い文です。", title="日本語")]])
def test_documents_that_give_nothing_are_no_failure(documents: list[SourceDocument]) -> None:
    assert [question for question in make(documents, 10, 0) if question.behaviour is Behaviour.ANSWER] == []


@given(st.text(max_size=400), st.text(max_size=40), st.integers(1, 30), st.integers(0, 5))
def test_any_text_is_survived_and_every_quote_stands_in_it(text: str, title: str, limit: int, seed: int) -> None:
    one = document(text.replace("\r", " "), title=title or "T")
    questions = make([one], limit, seed)
    assert len(questions) <= limit
    for question in questions:
        for span in question.gold:
            assert _stands(span.quote, [passage.body for passage in one.passages])


def test_what_is_known_makes_room_for_the_next_ones_until_nothing_is_left() -> None:
    known: set[str] = set()
    batches = []
    for _ in range(40):
        made = {question.id for question in make(site(), 10, seed=0, known=known)}
        if not made:
            break
        assert len(made) <= 10
        assert made.isdisjoint(known)
        batches.append(len(made))
        known |= made
    assert batches[:4] == [10] * 4
    assert known >= {question.id for question in make(site(), 40, seed=0) if question.gold and len(question.gold) == 1}
    assert make(site(), 10, seed=0, known=known) == []
