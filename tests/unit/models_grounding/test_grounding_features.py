"""A claim beside its evidence: what the features see, and what they do not depend on."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.shared.models.grounding.features import FAULTS, FEATURES, LIKENESS, row
from services.shared.models.grounding.reading import read, sentence_spans

from .reads import features, pieces_of, reading

FERRY = "The Bramley ferry leaves Port Ansel at 07:40 on weekdays. A single ticket costs 4.50 euros. Dogs travel free."


def test_a_sentence_of_the_evidence_has_no_fault_and_all_likeness() -> None:
    found = features("A single ticket costs 4.50 euros.", FERRY)
    assert found["copied"] == found["held"] == 1.0
    assert found["aligned_least"] > 0.999
    assert not any(found[name] for name in FAULTS)


def test_another_number_is_missing_and_clashes() -> None:
    found = features("A single ticket costs 5.40 euros.", FERRY)
    assert found["number_missing"] == found["number_clash"] == 1.0
    assert found["numbers_missing"] == 1.0


def test_a_number_in_words_is_the_number() -> None:
    assert features("It takes twelve days.", "It takes 12 days.")["number_missing"] == 0
    assert features("It costs 1,200 euros.", "It costs 1200 euros.")["number_missing"] == 0


def test_another_name_clashes_with_the_one_in_its_place() -> None:
    found = features("The ferry leaves Port Marden at 07:40.", FERRY)
    assert found["names_missing"] == 1.0
    assert found["name_clash"] == 1.0


def test_a_denial_on_one_side_is_seen_from_both() -> None:
    denied = features("Dogs do not travel free.", FERRY)
    assert denied["denial"] == denied["denial_claim"] == 1.0
    affirmed = features("Dogs travel free.", "Dogs don't travel free.")
    assert affirmed["denial"] == affirmed["denial_evidence"] == 1.0
    assert features("Dogs don't travel free.", "Dogs do not travel free.")["denial"] == 0


def test_opposites_and_directions() -> None:
    found = features("After the rewrite build time increased.", "After the rewrite build time decreased.")
    assert found["opposites"] == found["direction_clash"] == 1.0
    same = features("Build time dropped.", "Build time fell.")
    assert same["same_direction"] == 1.0
    assert same["direction_clash"] == 0


def test_only_the_likest_sentences_count() -> None:
    far = "Nobody keeps 99 sheep here. " * 2
    evidence = f"{far}{FERRY}"
    assert features("A single ticket costs 4.50 euros.", evidence)["denial"] == 0


def test_every_feature_has_a_sign() -> None:
    assert len(set(FEATURES)) == len(FEATURES) == len(LIKENESS) + len(FAULTS)


def test_a_text_without_words_cannot_be_read() -> None:
    assert read("-- !", pieces_of("-- !")) is None
    assert read("", pieces_of("")) is None


def test_a_part_keeps_its_own_words_alone() -> None:
    part = reading(FERRY).part([1])
    assert part.words == ("a", "single", "ticket", "costs", "4.50", "euros")
    assert set(part.sentences) == {0}
    assert np.allclose(part.vector, part.sentence_vectors[0])


@given(st.text(max_size=120), st.text(max_size=200))
def test_any_texts_give_finite_numbers(claim: str, evidence: str) -> None:
    one, other = read(claim, pieces_of(claim)), read(evidence, pieces_of(evidence))
    if one is not None and other is not None:
        assert np.isfinite(row(one, other)).all()


@given(st.text(max_size=300))
def test_sentences_do_not_overlap_and_hold_every_word(text: str) -> None:
    spans = sentence_spans(text)
    assert all(begin < end for begin, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    within = {place for begin, end in spans for place in range(begin, end)}
    assert all(place in within for place, sign in enumerate(text) if sign.isalnum())
