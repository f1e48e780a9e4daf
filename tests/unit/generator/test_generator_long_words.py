"""Sentences without an end and codes without a break take no noticeable time to check."""

import time

import pytest

from services.generator.domain.facts import faults
from services.generator.domain.guardrail import broken_rule
from services.generator.domain.model_text import SentenceCutter
from services.generator.domain.sentences import split
from services.generator.domain.splitting import split as split_question

LENGTH = 2000
PATIENCE_S = 3.0
"""Many times what it takes; a pattern that goes back over a text again and again needs minutes."""
RUNS = [
    "x",
    "1",
    "a.",
    "[",
    "(",
    "'",
    "A",
    "Aa",
    "a-",
    "a_",
    "1,",
    "1.",
    "[1]",
    "`",
    "*",
    "|",
    "\n",
    "not ",
    "and ",
    "字",
]


@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_is_checked_at_once(run: str) -> None:
    text = (run * LENGTH)[:LENGTH]
    began = time.thread_time()
    cutter = SentenceCutter(3)
    for at in range(0, LENGTH, 50):
        cutter.feed(text[at : at + 50])
    cutter.finish(cut_off=False)
    faults(text, text)
    broken_rule(text)
    split(text)
    split_question(text)
    assert time.thread_time() - began < PATIENCE_S
