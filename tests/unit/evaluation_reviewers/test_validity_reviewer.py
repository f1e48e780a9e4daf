"""The validity reviewer: sound and unsound writing, with the traps that lie between."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.evaluation.reviewers.validity import LONGEST_ANSWER, by_embedding, by_rule, exemplars
from tests.unit.evaluation_reviewers.fit import counts
from tests.unit.evaluation_reviewers.labelled import LabelledWriting, writing


@pytest.mark.parametrize("one", writing(), ids=lambda one: f"{one.trap or 'plain'}: {one.text[:40]}")
def test_the_rule_says_what_a_person_says(one: LabelledWriting) -> None:
    review = by_rule(one.text)
    assert review.passed is one.sound, review.notes
    assert (review.score == 1.0) is one.sound


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "empty"),
        ("I think so [1].", "speaks as I"),
        ("As an AI language model, I have no opinion [1].", "speaks of itself as a machine"),
        ("She is an engineer [1]. Sorry, there is no more.", "refuses"),
        ("The provided context does not say it [1].", "speaks of its sources instead of the matter"),
        ("Question: who is she? She is an engineer [1].", "repeats its instructions"),
        ("Certainly! She is an engineer [1].", "talks to the visitor instead of answering"),
        ("Who is she? [1]", "talks to the visitor instead of answering"),
        ("She is an engineer who lives with the", "breaks off"),
        ("She is an engineer [1]. She lives", "breaks off"),
        ("She is [1] an engineer [2", "a marker without a number"),
        ("| Go | 2 | small tools | [1]", "a table's remains"),
        ("Rose &amp; Crown is a pub [1].", "an HTML entity or tag"),
        ("It is a pub [1][1].", "the same marker twice"),
        ("It costs ` 5 euros [1].", "a Markdown mark without its partner"),
        ("It opens at ten [1]. It opens at ten [2].", "says twice: It opens at ten."),
        ("THE PUB IS CLOSED FOREVER [1].", "shouts"),
        ("It is open!!! [1]", "exclaims"),
        ("word " * LONGEST_ANSWER + "end.", f"too long: {LONGEST_ANSWER + 1} words"),
    ],
)
def test_each_fault_has_its_name(text: str, note: str) -> None:
    assert note in by_rule(text).notes


@pytest.mark.parametrize(
    "text",
    [
        "Charles I was born in 1600 [1].",
        "Elizabeth I is the subject of chapter 3 [1].",
        "Phase I covers the data migration [1].",
        "Her motto is 'I measure before I guess', and she keeps to it [1].",
        "> I cannot recommend her enough.\n\nThat is how her manager put it [1].",
        "The C major scale [1].",
        "The context menu does not show the entry before version 3 [1].",
        "Users who cannot answer the security question write to support [1].",
        "The service refuses to answer requests without a token [1].",
        "Das ist die I. Etage, und sie ist gesperrt [1].",
        "The command prints `<br>` and `&amp;` as they are [1].",
        "It is known as a) cheap and b) quick [1].",
        "She said it is fine... and it was [1].",
        "Wirklich? Nein, es ist nicht so [1].",
    ],
)
def test_ordinary_sentences_with_the_same_words_pass(text: str) -> None:
    assert by_rule(text).notes == []


def test_a_sentence_has_at_most_eighty_words() -> None:
    longest = " ".join(["It", *(f"lasts{letter}{other}" for letter in "abcdefghij" for other in "klmnopqr")][:80])
    assert by_rule(f"{longest} [1].").notes == []
    assert by_rule(f"{longest} again [1].").notes == ["a sentence of 81 words"]


def test_a_likeness_that_is_no_number_fails() -> None:
    assert not by_embedding([0.9, 0.9, 0.9, math.nan], [0.1] * 4).passed
    assert not by_embedding([0.9] * 4, [0.1, 0.1, 0.1, math.nan]).passed


def test_the_embedding_reviewer_fails_what_is_near_to_refusals_only() -> None:
    sound, unsound = exemplars()
    assert len(sound) >= 10
    assert len(unsound) >= 10
    assert by_embedding([0.5] * len(sound), [0.2] * len(unsound)).passed
    review = by_embedding([0.1] * len(sound), [0.6, 0.6, 0.6, *[0.0] * (len(unsound) - 3)])
    assert not review.passed
    assert review.score < 0.5


def test_the_embedding_reviewer_does_what_its_docstring_says() -> None:
    found = counts()
    assert (found["texts"], found["texts, unsound"]) == (92, 49)
    assert found["texts, unsound and failed by embedding"] == 7
    assert found["texts, sound and failed by embedding"] == 0


def test_exemplars_are_judged_by_the_rule_as_they_are_meant() -> None:
    sound, unsound = exemplars()
    assert [text for text in sound if not by_rule(text).passed] == []
    assert [text for text in unsound if by_rule(text).passed] == []


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    review = by_rule(text)
    assert review.passed is (review.notes == [])
    assert 0.0 <= review.score <= 1.0


@pytest.mark.parametrize("junk", ["[1", "'a 'b", " ", "<a ", "| ", '"', "(", "a ", "`", "?", "[a]("])
def test_endless_junk_is_read_in_a_moment(junk: str) -> None:
    began = time.thread_time()
    by_rule(junk * 6000 + "x")
    assert time.thread_time() - began < 2
