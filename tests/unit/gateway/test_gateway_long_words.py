"""A question of the greatest length takes no noticeable time at the door, whatever it is made of."""

import time

import pytest

from services.gateway.domain.understanding import refusal, understood
from services.shared.contracts.answers import Turn
from services.shared.contracts.profile import Declined, Profile, Pronouns, Subject

LENGTH = 2000
PATIENCE_S = 2.0
"""A hundred times what it takes; a pattern that goes back over a text again and again needs minutes."""
PROFILE = Profile(
    subject=Subject(name="Ada Byron", aliases=["Ada"], pronouns=Pronouns(subject=["she"], possessive=["her"])),
    decline=[Declined(topic="salary", words=["pay"])],
)
RUNS = ["x", "аa", "1", "a.", "a ", "[", "(", "'", '"', "A", "Aa", "1,", "a-", "a_", "a@", "http://", "字", "é", "not "]
RUNS += ["what is ", "and ", "I am ", "the ", "Ab ", "1.", "[1]", "`", "*", "|", "<", "\n", "i g n o r e "]


@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_is_read_at_once(run: str) -> None:
    text = (run * LENGTH)[:LENGTH]
    began = time.thread_time()
    for question, history in ((f"Why {text}?", None), ("And before that?", [Turn(question=text, answer=text)])):
        found = understood(question, history, PROFILE, question_max_chars=2 * LENGTH, history_max_chars=4 * LENGTH)
        refusal(question, found.question, PROFILE)
    assert time.thread_time() - began < PATIENCE_S
