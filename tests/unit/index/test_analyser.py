"""The one tokenizer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.analysis import pieces

NOTE = "Kindly bring the “Saffron” jar. (Kept in: drawer K4; see REGISTER.)\n\nOur baker is called Oduya."


@pytest.mark.parametrize("asked", ["saffron", "SAFFRON", "k4", "register", "Oduya?", "oduya", "‘register’"])
def test_edge_punctuation_quotes_and_case_do_not_matter(asked: str) -> None:
    assert set(question_tokens(asked)) <= set(tokens(NOTE))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("C++", "c++"),
        ("(C#),", "c#"),
        (".NET", ".net"),
        ("node.js.", "node.js"),
        ("85%", "85%"),
        ("85.3%;", "85.3%"),
        ("v2.1", "v2.1"),
        ("2024-03-11", "2024-03-11"),
        ("R&D", "r&d"),
        ("snake_case", "snake_case"),
        ("kim.lee@harrow.example.", "kim.lee@harrow.example"),
    ],
)
def test_names_and_numbers_stay_whole(text: str, whole: str) -> None:
    assert whole in tokens(f"We said {text} yesterday")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sign-off", "sign"),
        ("LQ-3007", "3007"),
        ("lq-3007", "LQ"),
        ("$75/hour", "hour"),
        ("$75/hour", "75"),
        ("$75/hour", "$75"),
        ("85.3%", "85.3"),
        ("v2.1", "2.1"),
        (".NET", "net"),
        ("ASP.NET", "net"),
        ("node.js", "node"),
        ("kim.lee@harrow.example", "Kim"),
        ("kim.lee@harrow.example", "harrow.example"),
        ("https://docs.harrow.example/sign-off", "harrow.example"),
        ("2024-03-11", "2024"),
    ],
)
def test_compounds_are_found_by_their_parts(text: str, part: str) -> None:
    if part == "harrow.example" and text.startswith("https"):
        assert {"harrow", "exampl", "sign", "doc"} <= set(tokens(text))
    else:
        assert set(tokens(part)) <= set(tokens(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sign-off", "signoff"),
        ("LQ‑3007", "lq3007"),
        ("holidays", "holiday"),
        ("approving requests", "approved request"),
        ("ﬁne ＦＵＬＬ", "fine full"),
        ("Kovács", "Kovacs"),
        ("U.S.A.", "USA"),
        ("1,250,000", "1250000"),
        ("the company's", "the company’s"),
        ("don’t", "don't"),
        ("Straße", "STRASSE"),
    ],
)
def test_spellings_that_are_the_same(one: str, other: str) -> None:
    assert set(tokens(one)) & set(tokens(other)) >= set(tokens(other))


@pytest.mark.parametrize(("one", "other"), [("C++", "C"), ("C#", "C"), ("C++", "C#"), ("v2.1", "v21"), ("85%", "15%")])
def test_different_names_share_nothing(one: str, other: str) -> None:
    assert not set(tokens(one)) & set(tokens(other))


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert tokens("カタカナに") == ["カタ", "タカ", "カナ", "ナに"]
    assert tokens("猫") == ["猫"]
    assert tokens("ABCカナ2024") == ["abc", "カナ", "2024"]
    assert set(tokens("สวัสดี")) < set(tokens("สวัสดีครับ"))


@pytest.mark.parametrize("text", ["", "   ", "-----", "…?!", "“”", "\u200b"])
def test_a_text_without_letters_or_digits_has_no_tokens(text: str) -> None:
    assert tokens(text) == []
    assert question_tokens(text) == []


def test_a_clause_at_the_end_of_a_long_line_without_spaces_is_found() -> None:
    line = "，".join(f"车站第{n}号时钟每天早上由值班员上发条" for n in range(200)) + "，备用钥匙挂在站长室"
    asked = question_tokens("备用钥匙在站长室")
    assert len(line.split()) == 1
    assert len(set(asked) & set(tokens(line))) / len(set(asked)) > 0.8
    assert not {"备用", "钥匙", "站长"} & set(tokens(line[:-10]))


def test_a_han_character_is_found_alone_too() -> None:
    assert tokens("住民税") == ["住民", "民税", "住", "民", "税"]
    assert set(tokens("税")) <= set(tokens("住民税の申告"))


def test_korean_words_are_found_whatever_particle_they_carry() -> None:
    assert set(tokens("서울은")) & set(tokens("서울에서")) == {"서울"}


@pytest.mark.parametrize("compound", ["boundary-layer", "three-part"])
def test_a_question_asks_for_a_compound_by_its_telling_parts(compound: str) -> None:
    one, other = compound.split("-")
    assert question_tokens(compound) == tokens(f"{one} {other}")
    assert set(question_tokens(compound)) < set(tokens(compound))


@pytest.mark.parametrize(("asked", "written"), [("sign-off", "signoff"), ("e-mail", "email"), ("LQ-3007", "LQ3007")])
def test_a_compound_that_its_parts_do_not_tell_is_asked_for_whole(asked: str, written: str) -> None:
    assert set(tokens(written)) <= set(question_tokens(asked))


def test_question_words_go_and_the_subject_stays() -> None:
    assert question_tokens("What does she know about Kubernetes, please?") == tokens("know Kubernetes")
    assert question_tokens("Who are you?") == tokens("Who are you?")


@given(st.text())
def test_index_and_question_go_through_the_same_function(text: str) -> None:
    of_text, of_question = tokens(text), question_tokens(text)
    positions = iter(of_text)
    assert all(token in positions for token in of_question), "a question's tokens are the text's, some left out"
    assert bool(of_question) == bool(of_text)


@given(st.text(), st.text())
def test_tokens_of_two_texts_are_those_of_both_together(one: str, other: str) -> None:
    assert tokens(f"{one} {other}") == tokens(one) + tokens(other)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_quick_pattern_for_ascii_finds_what_the_full_one_finds(text: str) -> None:
    quick = [match.group() for match in pieces._ASCII_PIECE.finditer(text.lower())]
    assert quick == [match.group() for match in pieces._PIECE.finditer(text.lower())]


@given(st.text())
def test_tokens_hold_no_blank_and_no_capital(text: str) -> None:
    for token in tokens(text):
        assert token
        assert token.split() == [token]
        assert token.casefold() == token


@pytest.mark.parametrize("unit", ["a", "a+", "1,", "111,", "c#", "a.a@", "a-", "1.", ".a", "'", "東", "a_", "é"])
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    start = time.thread_time()
    tokens(unit * 50_000)
    assert time.thread_time() - start < 3
