"""Words in their own language, and the language of a question."""

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.index.analyser import chunk_tokens, question_languages, question_tokens, tokens
from services.shared.index.analysis.detection import language_of_text, languages_of_question
from services.shared.index.analysis.function_words import LISTED, function_words
from services.shared.index.analysis.languages import KNOWN, STEMMERS, canonical, treated_as

ENGLISH = "The oven is cleaned by the night shift, and they write down who has done it and when it was finished."
GERMAN = "Der Ofen wird von der Nachtschicht gereinigt, und sie schreibt auf, wer es gemacht hat und wann es war."
FRENCH = "Le four est nettoyé par l'équipe de nuit, qui note dans le cahier le nom de celui qui a fait le travail."
ARABIC = "يقوم فريق الليل بتنظيف الفرن ويكتب في الدفتر اسم من قام بالعمل ومتى انتهى منه"


def idf_of(*chunks: Sequence[str]) -> Callable[[str], float]:
    """What an index of these chunks says."""

    def idf(token: str) -> float:
        holding = sum(token in chunk for chunk in chunks)
        return math.log((len(chunks) + 1) / holding) if holding else 0.0

    return idf


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Verträge", "Vertrag"),
        ("de", "Straße", "STRASSE"),
        ("de", "Größen", "Groesse"),
        ("fr", "l’horloge", "horloges"),
        ("fr", "qu'arriver", "arrivé"),
        ("fr", "sonne-t-elle", "sonner"),
        ("fr", "œuvres", "oeuvre"),
        ("es", "canciones", "canción"),
        ("it", "dell'albero", "alberi"),
        ("pt", "informações", "informação"),
        ("nl", "klokken", "klok"),
        ("sv", "klockorna", "klockor"),
        ("ru", "ёлки", "елка"),
        ("tr", "kitaplar", "kitap"),
        ("el", "ρολόγια", "ΡΟΛΟΓΙΑ"),
        ("hi", "लड़कों", "लड़का"),
        ("ar", "المدرسة", "مدرسه"),
        ("ar", "كُتِبَ", "كتب"),
        ("ar", "كتـــاب", "كتاب"),
        ("ar", "أحمد", "احمد"),
        ("fa", "کتاب‌ها", "كتاب"),
        (None, "Москве", "Москва"),
        ("en", "بالكتاب", "كتاب"),
        ("ja", "meetings", "meeting"),
        ("ar", "٢٠٢٤", "2024"),
        ("de-AT", "Verträge", "Vertrag"),
        ("nb", "klokkene", "klokke"),
    ],
)
def test_forms_of_a_word_are_one_token(language: str | None, one: str, other: str) -> None:
    assert tokens(one, language) == tokens(other, language) != []


@pytest.mark.parametrize(("language", "one", "other"), [("fr", "l'été", "létal"), ("de", "Verträge", "vertraut")])
def test_other_words_stay_apart(language: str, one: str, other: str) -> None:
    assert not set(tokens(one, language)) & set(tokens(other, language))


@pytest.mark.parametrize(
    ("language", "question", "subject"),
    [
        ("de", "Wie viele Uhren gibt es in der Halle?", "Uhren Halle"),
        ("fr", "Qu'est-ce que l'horloge de la gare ?", "horloge gare"),
        ("es", "¿Cuántos relojes hay en la estación?", "relojes estación"),
        ("it", "Quanti orologi ci sono nella stazione?", "orologi stazione"),
        ("pt", "Quantos relógios existem na estação?", "relógios existem estação"),
        ("nl", "Hoeveel klokken zijn er in het station?", "klokken station"),
        ("ru", "Сколько часов на вокзале?", "часов вокзале"),
        ("ar", "كم عدد الساعات في المحطة؟", "الساعات المحطة"),
        ("en", "كم عدد الساعات في المحطة؟", "الساعات المحطة"),
    ],
)
def test_question_words_of_each_language_go(language: str, question: str, subject: str) -> None:
    assert question_tokens(question, language) == tokens(subject, language)


def test_an_unknown_language_keeps_its_words() -> None:
    assert tokens("running meetings", "sw") == ["running", "meetings"]
    assert tokens("C++ café", "sw") == ["c++", "cafe"]


@pytest.mark.parametrize("language", [None, "", "x", "english", "und", "12", "-", "\0"])
def test_a_tag_that_says_nothing_is_no_language(language: str | None) -> None:
    assert canonical(language) is None
    assert tokens("meetings", language) == (["meetings"] if language == "und" else ["meet"])


@given(st.text(), st.sampled_from([*KNOWN, "sw", "und"]))
def test_in_every_language_a_question_asks_for_tokens_of_its_text(text: str, language: str) -> None:
    of_text = iter(tokens(text, language))
    asked = question_tokens(text, language)
    assert all(token in of_text for token in asked)
    assert bool(asked) == bool(tokens(text, language))


def test_in_several_languages_what_is_shared_is_asked_once() -> None:
    assert question_tokens("radio", ("en", "de")) == tokens("radio", "de") == tokens("radio", "en")
    both = question_tokens("meetings", ("en", "de"))
    assert set(both) == set(tokens("meetings", "en")) | set(tokens("meetings", "de"))
    assert len(both) == len(set(both))


@pytest.mark.parametrize(
    ("text", "language"), [(ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr"), (ARABIC, "ar"), ("Oduya 4711 K4", None)]
)
def test_function_words_tell_the_language_of_a_text(text: str, language: str | None) -> None:
    assert language_of_text(text) == language


def test_a_few_latin_words_do_not_make_a_japanese_text_french() -> None:
    assert language_of_text("時計は駅の入口の上にあり毎朝六時に駅長が巻いている Café de la Gare") is None


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("When is the clock wound?", ("en",)),
        ("Wann wird die Uhr aufgezogen?", ("de",)),
        ("Quand est-ce que l'horloge est remontée ?", ("fr",)),
        ("Oduya K4", ("en", "de", "fr")),
    ],
)
def test_a_question_is_asked_in_the_language_it_is_written_in(question: str, meant: tuple[str, ...]) -> None:
    assert languages_of_question(question, ("en", "de", "fr")) == meant


def test_one_language_leaves_no_choice() -> None:
    assert languages_of_question("Wann wird die Uhr aufgezogen?", ("en",)) == ("en",)
    assert languages_of_question("Wann?", ()) == ()


def test_an_index_knows_its_languages_by_their_chunks() -> None:
    english, german = chunk_tokens(ENGLISH, "en"), chunk_tokens(GERMAN, "de-CH")
    assert question_languages("Oduya", idf_of()) == ("en",)
    assert question_languages("Wann?", idf_of(english, english)) == ("en",)
    assert question_languages("Oduya", idf_of(german, english, german)) == ("de", "en")
    assert question_languages("Wann?", idf_of(german, english, english)) == ("de",)


def test_a_chunk_of_unknown_language_is_told_by_its_words() -> None:
    assert chunk_tokens(GERMAN, None) == chunk_tokens(GERMAN, "de")
    assert chunk_tokens("Oduya 4711", None) == chunk_tokens("Oduya 4711", "en")


def test_languages_without_a_stemmer_are_held_as_one() -> None:
    assert question_languages("swali", idf_of(chunk_tokens("saa ya kituo", "sw"))) == ("und",)


@given(st.text())
def test_no_text_holds_the_mark_of_a_language(text: str) -> None:
    mark = chunk_tokens("", "de")[-1]
    assert mark not in tokens(text, "de")
    assert mark not in tokens(mark, "de")


def test_one_stray_document_changes_no_english_question_with_a_function_word() -> None:
    stray = idf_of(*[chunk_tokens(ENGLISH, "en")] * 9, chunk_tokens(FRENCH, "fr"))
    for question in ("Who winds the clock?", "How long does a shift last?", "Is there a spare key?"):
        assert question_tokens(question, question_languages(question, stray)) == question_tokens(question, "en")


@pytest.mark.parametrize("language", LISTED)
def test_a_list_of_function_words_is_short_and_of_a_known_language(language: str) -> None:
    assert language in KNOWN
    assert 30 < len(function_words(language)) < 200


@pytest.mark.parametrize("language", STEMMERS)
def test_every_language_is_treated_as_itself_in_its_own_script(language: str) -> None:
    assert language in treated_as(language).values()
