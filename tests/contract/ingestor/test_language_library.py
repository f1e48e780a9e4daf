"""py3langid tells the languages of documents."""

import threading

import pytest

from services.ingestor.adapters.languages import SAMPLE, Languages

TEXTS = {
    "en": "The station clock stopped on Sunday night, and nobody has wound it since. The key hangs in the office.",
    "de": "Die Bahnhofsuhr ist in der Nacht zum Sonntag stehen geblieben. Der Schlüssel hängt im Büro.",
    "fr": "L'horloge de la gare s'est arrêtée dimanche soir et personne ne l'a remontée. La clef est au bureau.",
    "ar": "توقفت ساعة المحطة ليلة الأحد ولم يقم أحد بتعبئتها منذ ذلك الحين، والمفتاح معلق في المكتب.",
    "zh": "车站的时钟在星期天晚上停了，之后没有人再给它上过发条。钥匙挂在办公室里。",
    "ja": "駅の時計は日曜日の夜に止まり、それから誰もぜんまいを巻いていません。鍵は事務所に掛かっています。",
    "vi": "Đồng hồ nhà ga đã dừng vào tối chủ nhật và từ đó không ai lên dây cót. Chìa khóa treo trong văn phòng.",
}


@pytest.fixture(scope="module")
def languages() -> Languages:
    return Languages()


@pytest.mark.parametrize("language", TEXTS)
def test_a_short_text_is_enough(languages: Languages, language: str) -> None:
    assert languages.language_of(TEXTS[language]) == language


@pytest.mark.parametrize("text", ["1, 2, 3, 4", "id;name;price\n12;Widget;9.50", "OK", "[]{}();", "Kubernetes", ""])
def test_what_is_no_language_is_none(languages: Languages, text: str) -> None:
    assert languages.language_of(text) is None


def test_a_foreign_licence_at_the_end_of_a_long_text_does_not_outvote_it(languages: Languages) -> None:
    body = TEXTS["de"] * (10 * SAMPLE // len(TEXTS["de"]))
    assert languages.language_of(f"{TEXTS['en']}\n{body}\n{TEXTS['en'] * 20}") == "de"


def test_threads_share_one_model() -> None:
    languages, told = Languages(), []
    threads = [threading.Thread(target=lambda: told.append(languages.language_of(TEXTS["fr"]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert told == ["fr"] * 4
