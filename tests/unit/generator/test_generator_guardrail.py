"""The guardrail tells persona breaks and refusals from content."""

import pytest

from services.generator.domain.guardrail import broken_rule, says_unknown


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
