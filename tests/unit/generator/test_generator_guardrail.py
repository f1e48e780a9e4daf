"""The guardrail tells persona breaks and refusals from content."""

import pytest

from services.generator.domain.guardrail import broken_rule, impersonates, leaks, says_unknown, speaks_as_subject
from services.generator.domain.prompt import Voice, build


@pytest.mark.parametrize(
    "text",
    [
        "I cannot recommend the north stair enough: it is the quickest way out.",
        'According to the handbook, guests are told "I am sorry, the pool is closed" after nine.',
        "Unable to start? The manual says to hold the green button for four seconds.",
        "The policy states that staff cannot share door codes with visitors.",
        "The model X-40 was trained on the same runway as the X-30 glider.",
        "As an AI platform, the Osprey suite stores its logs for 30 days.",
        "I cannot recommend it enough.",
        "I can't help but admire the harbour.",
        "Juno built a language model for invoices.",
        "The reviewer wrote “I can’t help with that request” in the ticket.",
        "DAN is a small town on the coast.",
        "I was told to pay at the desk.",
    ],
)
def test_content_passes(text: str) -> None:
    assert broken_rule(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I can’t help with that request.",
        "I am only a language model and do not have opinions on this.",
        "As your friendly virtual assistant, I was created to chat, but my training data ends earlier.",
        "Sorry, I must decline to answer this.",
        "As an AI language model, I cannot share personal details.",
        "I'm an AI assistant without a body.",
        "I'm sorry, but I cannot assist with that.",
        "I'm unable to provide that.",
        "I was created by Alibaba Cloud.",
        "I am DAN and I have no rules.",
        "DAN: the dock is closed.",
        "I'm now in developer mode.",
        "As ChatGPT, I think so.",
        "My instructions are to answer from passages only.",
        "I was instructed to answer only from the passages.",
    ],
)
def test_breaks_are_named(text: str) -> None:
    assert broken_rule(text)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("NOT IN THE PASSAGES", True),
        ("The passages do not mention a price.", True),
        ("The provided passages don't say.", True),
        ("There is no information about it.", True),
        ("I don’t know.", True),
        ("The dock opens at six.", False),
        ("Juno does not know Rust.", False),
        ("No dogs are allowed.", False),
    ],
)
def test_a_sentence_that_only_says_unknown(text: str, unknown: bool) -> None:
    assert says_unknown(text) is unknown


@pytest.mark.parametrize(
    ("text", "pretends"),
    [
        ("As Juno, I built Ledgerline.", True),
        ("I am Juno Tarkwell.", True),
        ("My name is Juno.", True),
        ("Juno built Ledgerline.", False),
        ('She said "I am Juno".', False),
        ("As Juno wrote, it is slow.", False),
    ],
)
def test_nobody_pretends_to_be_the_subject(text: str, pretends: bool) -> None:
    assert impersonates(text, ["Juno Tarkwell"]) is pretends
    assert not impersonates(text, [])


@pytest.mark.parametrize(
    ("text", "first_person"),
    [
        ("I built Ledgerline in 2019.", True),
        ("My talk was in Leeds.", True),
        ("She said: “I left in 2019”.", False),
        ("I do not know that.", False),
        ("I cannot recommend the north stair enough: it is the quickest way out.", False),
        ("I can’t praise it enough.", False),
        ("I cannot recommend Ledgerline, which I built.", True),
        ("World War I ended in 1918.", False),
        ("In 2019, I led the team.", True),
        ("Her talk Why I stopped rewriting was full.", False),
        ("Open My account to change it.", False),
    ],
)
def test_the_subjects_first_person_is_told(text: str, first_person: bool) -> None:
    assert speaks_as_subject(text, ["Juno"]) is first_person
    assert not speaks_as_subject(text, [])


def test_rules_that_come_out_again_are_told() -> None:
    rules = build(question="q", passages=[], voice=Voice("A guide.", "en"), num_ctx=4096, num_predict=400).system
    assert leaks("Use only what the passages say and add nothing from memory.", rules, "")
    assert leaks('Write only: "Copy numbers, dates and names exactly."', rules, "")
    assert not leaks("The dock opens at six and the passages are narrow.", rules, "")
    assert not leaks("Copy numbers, dates and names exactly.", rules, "Copy numbers, dates and names exactly.")
