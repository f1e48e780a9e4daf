"""The extractive writer chooses the right sentences, or none."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain import extractive, terms
from services.generator.domain.candidates import MAX_CANDIDATES, Signals, candidates, kind_hint
from services.generator.domain.extractive import LEXICAL, SCORED, Choice, choose
from services.shared.contracts.search import Passage, TextScore
from tests.unit.generator.fakes import passage

TIDEGATE = passage(
    "tidegate has three maintainers: Juno Tarkwell, Zoë Maréchal and Nikolaj Østby. 61 people have contributed code. "
    "The current version is tidegate v2.1.4, released on 7 October 2025.",
    title="tidegate",
)
RULES = passage("\n\n".join(f"Rule {n} of the boat shed applies on day {n}." for n in range(1, 40)), title="Boat shed")


def ask(question: str, *passages: Passage, threshold: float = extractive.THRESHOLD) -> Choice:
    """Chooses with scores made of shared words."""
    found = candidates(question, passages)
    shares = [terms.overlap(question, one.scored) for one in found]
    scores = [TextScore(similarity=share, coverage=share) for share in shares]
    return choose(question, passages, found, scores, threshold=threshold)


def test_the_best_sentence_is_quoted_exactly() -> None:
    choice = ask("Which version of tidegate is current?", TIDEGATE)
    (sentence,) = choice.sentences
    (span,) = sentence.spans
    assert sentence.text == "The current version is tidegate v2.1.4, released on 7 October 2025."
    assert TIDEGATE.text[span.start : span.end] == span.quote == sentence.text


def test_an_unrelated_question_gets_nothing() -> None:
    choice = ask("How do I bake carrot cake?", TIDEGATE, RULES)
    assert choice.sentences == ()
    assert choice.confidence < extractive.THRESHOLD


def test_no_passages_no_answer() -> None:
    assert ask("Anything?") == Choice((), 0.0)


@pytest.mark.parametrize(
    "question", ["What does rule 500 of the boat shed say?", "When does rule 15.2 of the boat shed apply?",
                 "Which rule of the boat shed applies in 2031?", "What is rule v3 of the boat shed?"],
)  # fmt: skip
def test_a_number_that_no_passage_holds_is_a_near_miss(question: str) -> None:
    assert ask(question, RULES).sentences == ()


def test_an_exact_number_decides_between_sentences_that_differ_only_in_it() -> None:
    (sentence,) = ask("When does rule 15 of the boat shed apply?", RULES).sentences
    assert sentence.text == "Rule 15 of the boat shed applies on day 15."


def test_only_passages_with_the_number_answer() -> None:
    other = passage("Rule 500 of the tennis court is that no dogs play.", title="Tennis")
    choice = ask("What is rule 500 of the court?", RULES, other)
    assert [one.spans[0].passage for one in choice.sentences] == [1]


def test_numbers_may_be_spelled_differently() -> None:
    text = passage("The shop sold 1,312 stars in three years.")
    assert ask("Who sold 1312 stars in 3 years in the shop?", text).sentences


def test_a_sentence_that_leans_back_takes_the_one_before_along() -> None:
    text = passage("Quayside is a booking tool for ports. It was started in 2019 by Juno Tarkwell.")
    (sentence,) = ask("When was Quayside started by Juno Tarkwell?", text).sentences
    assert sentence.text == text.text
    assert sentence.spans[0].quote == text.text


def test_a_question_in_the_text_speaks_for_the_answer_after_it() -> None:
    text = passage(
        "Is she willing to travel abroad for work? Yes, for at most five days a month. Other things are here."
    )
    sentences = ask("Is she willing to travel abroad for work?", text).sentences
    assert [one.text for one in sentences] == ["Yes, for at most five days a month."]


def test_the_repeated_table_header_is_never_quoted() -> None:
    lead = "| Version | Released |\n|---|---|\n"
    table = passage(f"{lead}| 2.1.4 | October |\n| 2.0.0 | June |", lead=len(lead), title="Releases")
    (sentence, *_) = ask("When was version 2.0.0 released?", table).sentences
    assert sentence.text == "2.0.0 | June"
    assert sentence.spans[0].start >= len(lead)


def test_a_denial_outranks_a_sentence_that_fits_as_well() -> None:
    fact = passage("The Kubernetes cluster in production is run by Bo.")
    denial = passage("Juno has not run a Kubernetes cluster in production.", kind="negative")
    choice = ask("Has Juno run a Kubernetes cluster in production?", fact, denial)
    assert choice.sentences[0].spans[0].passage == 1
    assert choice.confidence > 0.7


def test_a_denial_counts_for_nothing_more_where_no_yes_or_no_is_asked() -> None:
    fact = passage("The notice period of Juno is thirteen weeks.")
    denial = passage("Juno has no notice period at weekends.", kind="negative")
    assert ask("What notice period does Juno have?", fact, denial).sentences[0].spans[0].passage == 0


def test_redundant_sentences_are_said_once() -> None:
    text = "The dock opens at 05:45 every day."
    assert len(ask("When does the dock open?", passage(text), passage(text)).sentences) == 1


def test_two_good_sentences_come_in_reading_order() -> None:
    text = passage("The dock opens at six in summer. Weather is fine. The dock opens at nine in winter months.")
    texts = [one.text for one in ask("When does the dock open?", text).sentences]
    assert texts == ["The dock opens at six in summer.", "The dock opens at nine in winter months."]


def test_wrapped_lines_are_joined_for_reading_but_quoted_as_they_are() -> None:
    text = passage("> The dock opens\n> at six.")
    (sentence,) = ask("When does the dock open?", text).sentences
    assert sentence.text == "The dock opens at six."
    assert sentence.spans[0].quote == text.text.removeprefix("> ")


def test_without_scores_words_decide() -> None:
    found = candidates("Which version of tidegate is current?", [TIDEGATE])
    choice = choose("Which version of tidegate is current?", [TIDEGATE], found, None, threshold=extractive.THRESHOLD)
    assert "v2.1.4" in choice.sentences[0].text


def test_candidates_are_bounded_and_keep_the_closest() -> None:
    many = [passage("\n\n".join(f"Fact {n} about topic {n}." for n in range(at, at + 60))) for at in (0, 60, 120)]
    found = candidates("What is fact 150 about?", many)
    assert len(found) == MAX_CANDIDATES
    assert any("Fact 150" in one.scored for one in found)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("When did it launch?", "It launched in March 2014.", 1.0),
        ("When did it launch?", "It launched well.", 0.0),
        ("How many hours?", "Up to four hours.", 1.0),
        ("Who maintains it?", "It is maintained by Zoë Maréchal.", 1.0),
        ("What is tidegate?", "tidegate is a library.", 1.0),
        ("What is tidegate?", "tidegate has three maintainers.", 0.0),
        ("What is the notice period at Saltmarsh Ledger?", "It is 13 weeks.", 0.5),
        ("Is it good?", "It is.", 0.5),
    ],
)
def test_hints(question: str, text: str, expected: float) -> None:
    assert kind_hint(question, text) == expected


share = st.floats(0, 1)


@given(share, share, share, share, st.sampled_from(["similarity", "coverage", "hint", "code", "denial"]))
def test_confidence_is_a_probability_and_rises_with_every_signal(
    a: float, b: float, c: float, d: float, name: str
) -> None:
    for weights in (SCORED, LEXICAL):
        low, high = sorted((a, d))
        seen = Signals(similarity=a, coverage=b, hint=c, code=0.0, denial=0.0)
        lower = weights.confidence(weights.logit(replace(seen, **{name: low})))
        higher = weights.confidence(weights.logit(replace(seen, **{name: high})))
        assert 0 <= lower <= higher <= 1


@given(st.text(alphabet="ab .\n|-#12?", max_size=80), st.text(alphabet="ab 12?", max_size=20))
def test_every_quote_is_what_its_span_says(text: str, question: str) -> None:
    for sentence in ask(question, passage(text), threshold=0.0).sentences:
        (span,) = sentence.spans
        assert text[span.start : span.end] == span.quote
