"""Telling an answer's language, and saying nothing where it cannot be told."""

import pytest

from services.shared.evaluation.reviewers.language import in_language, language_of

TEXTS = {
    "en": "She has led the team since January 2024 and would like to stay below nine people, because a larger team"
    " needs a manager who does not write software.",
    "de": "Sie leitet das Team seit Januar 2024 und möchte nicht mehr als neun Menschen führen, weil ein größeres Team"
    " jemanden braucht, der keine Software schreibt.",
    "fr": "Elle dirige l'équipe depuis janvier 2024 et ne veut pas plus de neuf personnes, parce qu'une équipe plus"
    " grande a besoin d'un chef qui n'écrit pas de logiciel.",
    "es": "Dirige el equipo desde enero de 2024 y no quiere tener más de nueve personas, porque un equipo más grande"
    " necesita una persona que no escriba el software.",
    "it": "Guida il gruppo dal gennaio 2024 e non vuole avere più di nove persone, perché un gruppo più grande ha"
    " bisogno di una persona che non scrive il software.",
    "nl": "Zij leidt het team sinds januari 2024 en wil niet meer dan negen mensen leiden, omdat een groter team"
    " iemand nodig heeft die geen software voor het bedrijf schrijft.",
    "pt": "Ela dirige a equipa desde janeiro de 2024 e não quer ter mais do que nove pessoas, porque uma equipa maior"
    " precisa de uma pessoa que não escreva o software.",
    "ru": "Она руководит командой с января 2024 года и не хочет, чтобы в ней было больше девяти человек.",
    "ja": "彼女は2024年1月からチームを率いており、9人以上にはしたくないと考えています。",
    "zh": "她从二〇二四年一月起领导这个团队，不希望团队超过九个人，因为更大的团队需要专职经理。",
    "ar": "تقود الفريق منذ يناير ولا تريد أن يزيد عدد أعضائه على تسعة أشخاص في الشركة",
}


@pytest.mark.parametrize("language", TEXTS)
def test_its_own_language_is_recognised_and_no_other(language: str) -> None:
    assert in_language(TEXTS[language], language) is True
    for other in TEXTS:
        if other != language:
            assert in_language(TEXTS[language], other) is False, other


def test_regions_do_not_matter() -> None:
    assert in_language(TEXTS["en"], "en-GB") is True
    assert in_language(TEXTS["zh"], "zh_Hans") is True


@pytest.mark.parametrize("text", ["", "Juno Tarkwell, Saltmarsh Ledger, Ghent", "14 May 2024", "Yes, she has."])
def test_short_texts_are_not_judged(text: str) -> None:
    assert in_language(text, "de") is None


def test_a_list_of_names_is_of_no_language() -> None:
    assert language_of("Kafka Postgres Redis Airflow Terraform Docker Linux Python Rust Go " * 3) is None


def test_a_language_that_it_does_not_know_is_not_judged() -> None:
    assert in_language(TEXTS["en"], "eo") is None


def test_scripts_that_languages_share_are_told_apart_from_others_only() -> None:
    assert in_language(TEXTS["ru"], "uk") is True
    assert in_language(TEXTS["en"], "uk") is False
