"""What a visitor typed becomes a question."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.cleaning import clean_question, refuse_broken_text, tidy
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Profile, Pronouns, Subject
from services.shared.contracts.search import Filters

JUNO = Profile(
    subject=Subject(
        name="Juno Tarkwell",
        aliases=["Juno", "Ms Tarkwell"],
        pronouns=Pronouns(subject=["she"], possessive=["her", "hers"]),
    )
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What does she do?", "What does Juno Tarkwell do?"),
        ("DOES she code", "DOES Juno Tarkwell code"),
        ("She led what?", "Juno Tarkwell led what?"),
        ("Describe her work", "Describe Juno Tarkwell's work"),
        ("Her biggest mistake?", "Juno Tarkwell's biggest mistake?"),
        ("Can I contact her directly?", "Can I contact Juno Tarkwell directly?"),
        ("Did they promote her twice?", "Did they promote Juno Tarkwell twice?"),
        ("Tell me about her?", "Tell me about Juno Tarkwell?"),
        ("Tell me about her in two words", "Tell me about Juno Tarkwell in two words"),
        ("Ask her what she likes", "Ask Juno Tarkwell what Juno Tarkwell likes"),
        ("Is the design hers?", "Is the design Juno Tarkwell's?"),
        ("Who is Juno?", "Who is Juno Tarkwell?"),
        ("What is Juno's job?", "What is Juno Tarkwell's job?"),
        ("who is ms tarkwell", "who is Juno Tarkwell"),
        ("Who is Juno Tarkwell?", "Who is Juno Tarkwell?"),
        ("Does Juno like her job?", "Does Juno Tarkwell like Juno Tarkwell's job?"),
        ("Where is the sherry?", "Where is the sherry?"),
        ("Other herbs, cashew or usher", "Other herbs, cashew or usher"),
        ("Mail juno@example.com", "Mail juno@example.com"),
        ("Open she.md", "Open she.md"),
        ("Is she-shed a word?", "Is she-shed a word?"),
        ("Did Juno tell Maria that she was promoted?", "Did Juno Tarkwell tell Maria that she was promoted?"),
        ("What did Maria say about her?", "What did Maria say about her?"),
        ("What did Maria do when she joined?", "What did Maria do when she joined?"),
        ("Does she like her colleague Maria?", "Does Juno Tarkwell like Juno Tarkwell's colleague Maria?"),
        ("When did Juno Tarkwell say she left?", "When did Juno Tarkwell say Juno Tarkwell left?"),
        ("Which AWS services does she use?", "Which AWS services does Juno Tarkwell use?"),
        ("Who is it? Does she code?", "Who is it? Does Juno Tarkwell code?"),
        ("Are the pronouns she/her?", "Are the pronouns she/her?"),
        ("Is it she/they or hers/theirs?", "Is it she/they or hers/theirs?"),
        ("Which films was Juno Temple in?", "Which films was Juno Temple in?"),
        ("What is Juno TARKWELL like?", "What is Juno Tarkwell like?"),
        ("What did Juno Build for Harrow?", "What did Juno Build for Harrow?"),
        ("WHAT DID JUNO BUILD?", "WHAT DID Juno Tarkwell BUILD?"),
        ("WHAT DOES SHE DO?", "WHAT DOES Juno Tarkwell DO?"),
    ],
)
def test_shorthand_for_the_subject_is_written_out(asked: str, expected: str) -> None:
    assert clean_question(asked, JUNO, 2000) == expected


def test_an_abbreviation_is_not_a_pronoun() -> None:
    product = Profile(subject=Subject(name="Kettle", pronouns=Pronouns(subject=["it"], possessive=["its"])))
    assert clean_question("Does it suit our IT team?", product, 100) == "Does Kettle suit our IT team?"
    assert clean_question("What is its price?", product, 100) == "What is Kettle's price?"


def test_blank_aliases_and_no_profile_change_nothing() -> None:
    blank = Profile(subject=Subject(name="Ada", aliases=["", " "]))
    assert clean_question("what now", blank, 100) == "what now"
    assert clean_question("does she?", Profile(), 100) == "does she?"


def test_a_name_with_regex_signs_is_only_a_name() -> None:
    odd = Profile(subject=Subject(name=r"A.C\1 (Ltd)", aliases=["C++"]))
    assert clean_question("who makes C++ here", odd, 100) == r"who makes A.C\1 (Ltd) here"


def test_white_space_controls_and_composition() -> None:
    assert tidy("  cafe\u0301\t\n\x00is\u202e  open\ud800?\u3000") == "café is open?"


@pytest.mark.parametrize(
    "raw",
    [
        "𝐖𝐡𝐞𝐫𝐞 𝐝𝐨𝐞𝐬 Ann 𝐥𝐢𝐯𝐞?",
        "Ｗｈｅｒｅ ｄｏｅｓ Ann live?",
        "{{question}} Where does Ann live?",
        "[1] [2] [3] Where does Ann live?",
        "<script>alert(1)</script> Where does Ann live?",
        "<br> Where does Ann live?",
        "Where does Ann live? " * 5,
        "Where does Ann live?Where does Ann live?",
    ],
)
def test_costume_noise_and_repetition_go(raw: str) -> None:
    assert clean_question(raw, Profile(), 2000) == "Where does Ann live?"


@pytest.mark.parametrize(
    "raw",
    [
        "How large are 10 m² and ½ ℓ?",
        "What does arr[3] hold?",
        "What does {{question}} stand for?",
        "Is 3 < 4 and 5 > 4?",
        "{{question}}?",
        "[1] [2]",
        "<h1> or <h2>, which is used?",
        "Who is Ann? Who is Bob?",
        "When is v1.1 out?",
        "ﷺ ｶﾞ ㄱ 5…",
    ],
)
def test_what_has_a_meaning_stays(raw: str) -> None:
    assert clean_question(raw, Profile(), 2000) == raw.replace("ℓ", "l")


def test_a_word_that_the_owner_lists_as_both_becomes_the_bare_name() -> None:
    both = Profile(subject=Subject(name="Ann", pronouns=Pronouns(subject=["zie", "zir"], possessive=["zir", "zirs"])))
    assert (
        clean_question("Can zie show zir work, or is it zirs?", both, 100) == "Can Ann show Ann work, or is it Ann's?"
    )


NOTHING_ASKED = ["", "   ", "\n\t", "\x00\x01", "\ud800", "\u202e", "???!!", "\U0001f600", "\u200b\u200d", "-- . --"]


@pytest.mark.parametrize("asked", NOTHING_ASKED)
def test_nothing_asked(asked: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        clean_question(asked, JUNO, 2000)
    assert caught.value.code is ErrorCode.QUESTION_EMPTY


def test_length_counts_the_tidied_question_before_names_are_written_out() -> None:
    assert clean_question("she?" + " " * 5000, JUNO, 4) == "Juno Tarkwell?"
    with pytest.raises(RagstoneError) as caught:
        clean_question("12345", JUNO, 4)
    assert caught.value.code is ErrorCode.QUESTION_TOO_LONG
    assert "5" in caught.value.detail
    assert "4" in caught.value.detail


@given(st.text(max_size=200))
def test_tidying_twice_changes_nothing_and_leaves_one_plain_line(raw: str) -> None:
    once = tidy(raw)
    assert tidy(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in once)
    assert once == once.strip()
    once.encode()


@pytest.mark.parametrize("asked", ["7", "é?", "東京", "क्या"])
def test_one_letter_or_digit_of_any_script_is_a_question(asked: str) -> None:
    assert clean_question(asked, JUNO, 2000) == asked


@given(st.text(max_size=80))
def test_rewriting_never_fails(raw: str) -> None:
    if any(char.isalnum() for char in tidy(raw)):
        assert clean_question(raw, JUNO, 2000)


def test_filters_with_half_a_surrogate_pair_are_refused() -> None:
    refuse_broken_text(Filters(type=["a", "b"], document_id="x"))
    with pytest.raises(RagstoneError):
        refuse_broken_text(Filters(tags=["fine", "\ud800"]))
