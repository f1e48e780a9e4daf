"""From a sentence to a question: well formed, with what a right answer says; or nothing."""

import pytest

from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.rules import drafts_of
from tests.unit.evaluation_golden.documents import corpus, document

CONTEXT = "The council meets on Mondays. People say that Juno Tarkwell wrote it and that the pool is old."


def drafts(sentence: str) -> list[Draft]:
    """What is made of one sentence of a document that has no telling headings."""
    one = document(sentence, title="Notes")
    rest = document(CONTEXT, id="other.md", title="Other")
    return drafts_of(one, corpus(one, rest))


@pytest.mark.parametrize(
    ("sentence", "question", "fact"),
    [
        ("Saltmarsh Ledger employs 85 people.", "How many people does Saltmarsh Ledger employ?", "85 people"),
        (
            "Juno Tarkwell has conducted about 60 technical interviews and hired four engineers.",
            "How many technical interviews has Juno Tarkwell conducted?",
            "sixty interviews",
        ),
        (
            "You can use up to 13 days of sick leave per year for bereavement at Alderton.",
            "How many days of sick leave per year can I use for bereavement at Alderton?",
            "13 days",
        ),
        (
            "Alderton settles payments for about 140 online marketplaces.",
            "For how many online marketplaces does Alderton settle payments?",
            "140 marketplaces",
        ),
        (
            "The p99 of queries in Ledgerline fell from 1,840 ms to 212 ms.",
            "By how much did the p99 of queries in Ledgerline fall?",
            "1840 ms",
        ),
        (
            "The restore of Ledgerline took 3 hours 25 minutes in February.",
            "How long did the restore of Ledgerline take in February?",
            "3 hours 25 minutes",
        ),
        (
            "There are 12 lockers in the Alderton office.",
            "How many lockers are there in the Alderton office?",
            "twelve lockers",
        ),
        ("GSA's TWN Employer Code is 10536.", "What is GSA's TWN Employer Code?", "10536"),
        (
            "Juno Tarkwell left Harrow & Quill Freight in August 2022 for two reasons.",
            "When did Juno Tarkwell leave Harrow & Quill Freight?",
            "2022-08",
        ),
        ("Gravel was switched off on 14 May 2024.", "When was Gravel switched off?", "May 14, 2024"),
        (
            "In May 2021, Alderton issued an order on cyber security.",
            "When did Alderton issue an order on cyber security?",
            "May 2021",
        ),
        (
            "Juno Tarkwell has run PostgreSQL in production since January 2018.",
            "Since when has Juno Tarkwell run PostgreSQL in production?",
            "January 2018",
        ),
        ("Juno Tarkwell reports to Théo Vandersmissen.", "Who does Juno Tarkwell report to?", "Théo Vandersmissen"),
        ("18F is funded by the Acquisition Services Fund.", "Who funds 18F?", "Acquisition Services Fund"),
        (
            "The code LQ-3011 means that a payout was sent twice.",
            "What does the code LQ-3011 mean?",
            "a payout was sent twice",
        ),
        (
            "Tidegate is an open-source Python library that pauses a queue.",
            "What is Tidegate?",
            "open-source Python library",
        ),
        (
            "Ada Quill is a backend engineer who lives in Ghent.",
            "Who is Ada Quill?",
            "backend engineer",
        ),
        ("They offer paid parental leave (PPL) to all.", "What does PPL stand for?", "paid parental leave"),
        (
            "Juno Tarkwell has not run a production Kubernetes cluster.",
            "Has Juno Tarkwell run a production Kubernetes cluster?",
            "has not run a production Kubernetes cluster",
        ),
        (
            "Juno Tarkwell has never managed more than 6 people at Alderton.",
            "Has Juno Tarkwell ever managed more than 6 people at Alderton?",
            "never managed more than 6 people at Alderton",
        ),
        (
            "Tidegate has no adapter for Amazon SQS.",
            "Does Tidegate have an adapter for Amazon SQS?",
            "no adapter for Amazon SQS",
        ),
        (
            "Juno Tarkwell had no direct reports at Alderton.",
            "Did Juno Tarkwell have any direct reports at Alderton?",
            "no direct reports at Alderton",
        ),
    ],
)
def test_a_statement_is_asked_for_what_it_says(sentence: str, question: str, fact: str) -> None:
    made = {draft.text: draft for draft in drafts(sentence)}
    assert question in made
    draft = made[question]
    assert draft.quotes == (sentence,)
    assert fact in draft.facts[0] or (len(draft.facts) > 1 and fact in draft.facts[1])


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "To request a locker at Alderton, email the tenant support.",
            "How do I request a locker at Alderton?",
        ),
        (
            "You can start a Google Hangout from Slack by typing a command.",
            "How can I start a Google Hangout from Slack?",
        ),
        (
            "If you're contacted by a journalist from Alderton, please forward the message to the press.",
            "What should I do if I'm contacted by a journalist from Alderton?",
        ),
        (
            "If you work longer than planned at Alderton, you will receive comp time.",
            "What happens if I work longer than planned at Alderton?",
        ),
        (
            "Juno Tarkwell chose trees at Alderton because the hydrologists wanted to see the gauge.",
            "Why did Juno Tarkwell choose trees at Alderton?",
        ),
    ],
)
def test_advice_is_asked_as_a_reader_would(sentence: str, question: str) -> None:
    made = {draft.text: draft for draft in drafts(sentence)}
    assert question in made
    assert made[question].facts == ()
    assert made[question].expected == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "She left Alderton in August 2022.",
        "It takes 13 weeks.",
        "This was switched off on 14 May 2024.",
        "Use the Alderton form in 2022.",
        "Employees who left Alderton before 2015 get 4 hours.",
        "You cannot spend a penny at Alderton, or expect one, without approval.",
        "Juno Tarkwell does not count a backup until it has been restored.",
        "Chicago is a very walkable city in the state of Illinois.",
        "If you have questions, see the page above.",
        "To limit this risk at Alderton, use new passwords.",
        "41 of 67 alerts were deleted.",
        "The centre is open, and Alderton has 3 desks:",
        "Is Alderton a town?",
        "The user's last 24 passwords may not be reused at Alderton.",
    ],
)
def test_what_gives_no_clear_question_is_left_out(sentence: str) -> None:
    assert [draft.text for draft in drafts(sentence)] == []


def test_a_question_that_could_be_about_anything_carries_its_documents_title() -> None:
    pool = document("The writer posts an update every 20 minutes.", title="Incident response, 2024")
    others = [document(CONTEXT, id=f"{n}.md", title=f"Other {n}") for n in range(3)]
    made = [draft.text for draft in drafts_of(pool, corpus(pool, *others))]
    assert made == ["Incident response: how often does the writer post an update?"]


def test_links_and_marks_are_read_over_and_stay_in_the_quote() -> None:
    sentence = "**Gravel** was [switched off\non 14 May 2024](https://example.org/gravel)."
    made = drafts(sentence)
    assert [draft.text for draft in made] == ["When was Gravel switched off?"]
    assert made[0].quotes == (sentence,)
    assert made[0].expected == "Gravel was switched off on 14 May 2024."


@pytest.mark.parametrize(
    "text", ["```\nGravel was switched off on 14 May 2024.\n```", "| Gravel was off on 14 May 2024. |"]
)
def test_code_and_tables_give_no_sentences(text: str) -> None:
    assert drafts(text) == []


def test_two_sentences_that_say_different_things_make_no_question_and_two_that_agree_make_one() -> None:
    from services.shared.evaluation.golden.rules import make

    gravel = document("Gravel was switched off on 14 May 2024.", id="a.md", title="A")
    again = document("Gravel was switched off on 14 May 2024, at last.", id="b.md", title="B")
    other = document("Gravel was switched off on 3 June 2020.", id="c.md", title="C")
    agreed = [one for one in make([gravel, again], 50, 0) if one.text == "When was Gravel switched off?"]
    assert [span.document_id for span in agreed[0].gold] == ["a.md", "b.md"]
    assert "When was Gravel switched off?" not in [one.text for one in make([gravel, other], 50, 0)]
