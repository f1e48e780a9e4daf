"""What a question is searched with: a pronoun where every document holds the name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.cleaning import clean_question
from services.gateway.domain.wording import search_wording
from services.shared.contracts.profile import Profile, Pronouns, Subject
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence

JUNO = Subject(
    name="Juno Tarkwell",
    aliases=["Juno", "Ms Tarkwell"],
    pronouns=Pronouns(subject=["she"], possessive=["her", "hers"]),
)


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("Where did she grow up in Ireland?", "Where did she grow up in Ireland?"),
        ("Where did Juno Tarkwell grow up in Ireland?", "Where did she grow up in Ireland?"),
        ("How big was her Utrecht talk in 2023?", "How big was her Utrecht talk in 2023?"),
        ("How big was Juno’s Utrecht talk in 2023?", "How big was her Utrecht talk in 2023?"),
        ("Is Juno a real person?", "Is she a real person?"),
        ("Did Maria promote Ms Tarkwell in Ghent?", "Did Maria promote she in Ghent?"),
        ("What did Maria say about her in Ghent?", "What did Maria say about her in Ghent?"),
        ("Which films was Juno Temple in last year?", "Which films was Juno Temple in last year?"),
        ("When does the museum shop open?", "When does the museum shop open?"),
        ("Who is Juno Tarkwell?", "Who is Juno Tarkwell?"),
        ("Who is she?", "Who is Juno Tarkwell?"),
        ("What is Juno's name?", "What is Juno Tarkwell's name?"),
        ("What is her name?", "What is Juno Tarkwell's name?"),
        ("Tell me about her", "Tell me about Juno Tarkwell"),
    ],
)
def test_the_name_gives_way_where_enough_else_is_asked(asked: str, searched: str) -> None:
    assert search_wording(clean_question(asked, Profile(subject=JUNO), 2000), JUNO) == searched


@pytest.mark.parametrize("subject", [None, Subject(name="Kettle"), Subject(name=" ", pronouns=JUNO.pronouns)])
def test_nothing_changes_without_a_subject_or_its_pronouns(subject: Subject | None) -> None:
    question = "Does Kettle boil milk quickly enough?"
    assert search_wording(question, subject) == question


def test_a_name_that_owns_stays_where_no_pronoun_for_it_is_known() -> None:
    ann = Subject(name="Ann", pronouns=Pronouns(subject=["zie"]))
    assert search_wording("Does Ann paint Ann's boats green?", ann) == "Does zie paint Ann's boats green?"


@given(st.text(alphabet="Juno Tarkwel'she?.", max_size=80))
def test_another_round_changes_nothing(question: str) -> None:
    once = search_wording(question, JUNO)
    assert search_wording(once, JUNO) == once


async def test_the_retriever_gets_both_wordings_and_the_writer_the_name() -> None:
    world = World(profile=Profile(subject=JUNO))
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done()])
    async with world.client() as client:
        await client.post("/v1/ask", json={"question": "Which queue library did she write?"})
        await client.post("/v1/search", json={"question": "Who owns the boats?"})
    asked, searched = world.retriever.calls
    assert asked.question == "Which queue library did she write?"
    assert asked.named == world.generator.calls[0].question == "Which queue library did Juno Tarkwell write?"
    assert (searched.question, searched.named) == ("Who owns the boats?", None)
