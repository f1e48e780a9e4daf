"""Topics that the owner declines, by their words and inflections and no other words."""

import pytest

from services.gateway.domain.declining import declined_topic
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.answers import AnswerReason, AnswerStatus, AskRequest
from services.shared.contracts.ids import DEFAULT_SPACE
from services.shared.contracts.profile import Declined, FixedTexts, Profile
from tests.unit.gateway.fakes import World

TOPICS = [
    Declined(topic="salary", words=["pay", "how much does she earn", "stock option"], text="Not about money."),
    Declined(topic="divorce"),
    Declined(topic="Gehalt", words=["Straße"]),
    Declined(topic="home address", words=["給料"]),
]

DECLINED = [
    ("What is her salary?", "salary"),
    ("SALARY???", "salary"),
    ("Which salaries did she have?", "salary"),
    ("Is the salary's amount known?", "salary"),
    ("a salary-based question", "salary"),
    ("sal\u200bary please", "salary"),
    ("ｓａｌａｒｙ", "salary"),
    ("s a l a r y", "salary"),
    ("What does it pay?", "salary"),
    ("What is she paid for paying bills?", "salary"),
    ("Does she hold stock options?", "salary"),
    ("And how  much does she\nearn a year", "salary"),
    ("Was she divorced?", "divorce"),
    ("Is she divorcing?", "divorce"),
    ("Welche Gehälter zahlt ihr?", "Gehalt"),
    ("Die Höhe des Gehalts?", "Gehalt"),
    ("In welcher STRASSE wohnt sie?", "Gehalt"),
    ("Her home-address?", "home address"),
    ("What home addresses are known?", "home address"),
    ("彼女の給料はいくらですか", "home address"),
]

SEARCHED = [
    "Is she a salaryman?",
    "What payload does the API take?",
    "Which payments system did she build?",
    "What is a Gehaltserhöhung?",
    "Which address does the home page have?",
    "How does she address her home team?",
    "Is the stock an option?",
    "Does the paymaster know?",
]


@pytest.mark.parametrize(("question", "topic"), DECLINED)
def test_a_question_about_a_declined_topic_is_told(question: str, topic: str) -> None:
    found = declined_topic(question, TOPICS)
    assert found is not None
    assert found.topic == topic


@pytest.mark.parametrize("question", SEARCHED)
def test_other_words_that_hold_the_topic_are_searched(question: str) -> None:
    assert declined_topic(question, TOPICS) is None


@pytest.mark.parametrize(
    ("question", "text"), [("Her salary?", "Not about money."), ("Her divorce?", "Only documents.")]
)
async def test_it_is_declined_in_its_own_words_without_a_search(question: str, text: str) -> None:
    world = World(profile=Profile(decline=TOPICS, texts=FixedTexts(declined="Only documents.")))
    flow = gateway_of(world.outside(), world.settings, world.profile).ask
    answer = await flow.answer(DEFAULT_SPACE, AskRequest(question=question, explain=True), "t")
    assert (answer.status, answer.reason, answer.text) == (AnswerStatus.DECLINED, AnswerReason.GUARDRAIL, text)
    assert answer.trace is not None
    assert "topic: " in answer.trace["declined"]
    assert (world.retriever.calls, world.generator.calls, world.generator.taken_apart) == ([], [], [])
