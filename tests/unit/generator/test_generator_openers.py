"""Labels, courtesies and opinions in front of a model's sentence go; what it says stays."""

import pytest

from services.generator.domain.guardrail import broken_rule, speaks_as_subject
from services.generator.domain.model_text import SentenceCutter, Written

DOCK = "The dock opens at 05:45."


def read(reply: str) -> list[tuple[str, tuple[int, ...]]]:
    cutter = SentenceCutter(2)
    found: list[Written] = [one for letter in reply for one in cutter.feed(letter)]
    return [(one.text, one.cited) for one in found + cutter.finish(cut_off=False)]


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: The dock opens at 05:45 [1].",
        "**Answer:** The dock opens at 05:45 [1].",
        "Answer:\nThe dock opens at 05:45 [1].",
        "Assistant: The dock opens at 05:45 [1].",
        "User: hi\nAssistant: The dock opens at 05:45 [1].",
        "User: When does it open?\n\nAssistant: The dock opens at 05:45 [1].",
        "I think the dock opens at 05:45 [1].",
        "I believe that the dock opens at 05:45 [1].",
        "As your guide, I am happy to tell you: the dock opens at 05:45 [1].",
        "I’m glad to say that the dock opens at 05:45 [1].",
        "Passage [1] says that the dock opens at 05:45.",
        "According to passage [1], the dock opens at 05:45.",
        "Based on the provided passages, the dock opens at 05:45 [1].",
    ],
)
def test_what_stands_in_front_goes(reply: str) -> None:
    assert read(reply) == [(DOCK, (0,))]


def test_a_transcript_goes_on_without_the_visitors_lines() -> None:
    reply = f"{DOCK[:-1]} [1].\nUser: and who holds the key?\nAssistant: Maren Holt holds the key [2]."
    assert read(reply) == [(DOCK, (0,)), ("Maren Holt holds the key.", (1,))]


@pytest.mark.parametrize(
    "text",
    [
        "The answer: it is red.",
        "I think so.",
        "I believe in tests.",
        "The passages do not mention a price.",
        "Passages say this once a year.",
        "The assistant: a play in two acts.",
        'She wrote "I think the dock is old".',
    ],
)
def test_other_sentences_stay(text: str) -> None:
    assert read(f"{text[:-1]} [1]{text[-1]}") == [(text, (0,))]


def test_a_label_inside_the_reply_is_content() -> None:
    assert read("Tickets have two fields [1]. Response: within a day [1].")[1] == ("Response: within a day.", (0,))
    assert read("User: admin [1].") == [("User: admin.", (0,))]
    assert read("- User: admin\n- Port: 8080") == [("User: admin", ()), ("Port: 8080", ())]


def test_a_shout_keeps_its_marker_outside_of_the_marks() -> None:
    assert read("THE DOCK OPENS AT 05:45!!! [1] It closes at noon [2].") == [
        ("THE DOCK OPENS AT 05:45!!!", (0,)),
        ("It closes at noon.", (1,)),
    ]


def test_a_break_behind_an_opener_is_a_break_still() -> None:
    ((text, _),) = read("I believe that I cannot help with that request.")
    assert broken_rule(text)
    ((text, _),) = read("I think I built Ledgerline.")
    assert speaks_as_subject(text, ["Juno"])
