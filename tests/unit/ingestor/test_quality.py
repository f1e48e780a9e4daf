"""Texts that nobody can read get a warning or are refused; innocent ones do not."""

import base64
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingestor.domain.kinds import FileKind
from services.ingestor.domain.quality import judged
from services.shared.contracts.errors import ErrorCode, RagstoneError

DATA = Path(__file__).parents[4] / "shared" / "data"

FRENCH = "L’été à la plage, c’est « génial » — n’est-ce pas ? Où êtes-vous né, à Besançon ou à Nîmes ? " * 3
ENGLISH = "The ferry leaves at nine and comes back at noon. It doesn’t run on Sundays — or so they say. " * 3


def judge(text: str, kind: FileKind = FileKind.TEXT, pages: int | None = None) -> str | None:
    return judged(text, "a.file", kind, pages)


INNOCENT = {
    "english": ENGLISH,
    "french": FRENCH,
    "french capitals": "ÉCOLE À PÂQUES, FORÊT ÇÀ ET LÀ, NOËL, AÏEUL, ŒUVRE : « À BIENTÔT » ",
    "portuguese": "São Paulo e a nação: “NÃO”, disse a mãe. Você já é avó? À noite, três irmãs “SÃO” elas. “Ô”, “Ã”.",
    "german": "Der Umlaut „Ä“ steht in „Ähre“, das „ß“ in „Straße“, das „Ö“ in »Öl«.",
    "vietnamese": "Tiếng Việt có nhiều dấu thanh: à, á, ả, ã, ạ, â, ầ, ấ, ẩ, ẫ, ậ.",
    "romanian": "Învățătoarea țipă: „Â” nu este „Ă”. Întâi, încă o dată.",
    "russian": "Съешь же ещё этих мягких французских булок, да выпей чаю. Россия, Сибирь, Рига.",
    "ukrainian": "Рік Різдва: Рівне, Сімферополь, Сім'я, Річ Посполита. Рівень річок у Рівному. «Рі» — не слово. " * 20,
    "greek": "Καλημέρα, αυτό είναι ένα ελληνικό κείμενο.",
    "chinese": "你好，这是一个用新编码保存的中文文本文件，我们要检查读取。" * 5,
    "japanese": "これは日本語のテキストです。カタカナも漢字もあります。「はい」、そうです。",
    "korean": "안녕하세요 이것은 한국어 텍스트입니다",
    "arabic": "السلام عليكم ورحمة الله وبركاته، كيف حالك اليوم؟ " * 4,
    "hebrew": "שלום לכולם, זה טקסט בעברית עם סימני פיסוק.",
    "hindi": "नमस्ते, यह हिन्दी में एक पाठ है।",
    "thai": "สวัสดีครับ นี่คือข้อความภาษาไทย",
    "emoji": "Done 🎉🎉 well played 👩‍🚀 — see you ☕ at five 🙂",
    "code": 'def f(x: list[int]) -> dict[str, int]:\n    return {k: v for k, v in zip("ab", x) if not v & 1}\n' * 5,
    "minified": "!function(e,t){for(var n=0;n<t.length;n++)e[t[n]]&&(e[t[n]]=null)}(window,[]);" * 9,
    "shell": 'grep -E "^[^#]" f | sed -e \'s/\\(a\\|b\\)/[&]/g\' >> "$OUT" 2>&1 || { echo "!! $?"; exit 1; }\n' * 4,
    "regex": r"^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)$",
    "table": "+------+------+\n| name | age  |\n+------+------+\n| Ada  | 36   |\n+------+------+\n" * 4,
    "pipes": "| a | b |\n|---|---|\n| 1 |  |\n|  | 2 |\n|  |  |\n| 3 | - |\n" * 6,
    "numbers": "12.5;13.7;-4,00;99%\n" * 30,
    "base64": base64.b64encode(bytes(range(256)) * 4).decode(),
    "hex": bytes(range(256)).hex(),
    "formula": "∀x∈ℝ: ∃y>0, |x−y|≤ε ⇒ f(x)=∑ᵢ aᵢ·xⁱ ∧ g(y)≠∅",
    "contents": "Notices " + ". " * 60 + "vii\nPreface " + "." * 80 + " xi\n",
    "log": "\x1b[31mERROR\x1b[0m disk full\n\x1b[32mINFO\x1b[0m again\n" * 5,
    "short": "ok",
    "one private sign": "Call \uf095 030 123456 or write to us at the office in the old town.",
    "json": json.dumps({"a": [1, 2, {"b": None}], "c": "é"}),
    "about this": "The word café came out as `cafÃ©`, because “UTF-8” was read as “Latin-1” — a “classic”. "
    + ENGLISH * 3,
}


@pytest.mark.parametrize("name", INNOCENT)
def test_innocent_texts_are_not_warned_of(name: str) -> None:
    for kind in (FileKind.TEXT, FileKind.PDF):
        assert judge(INNOCENT[name], kind) is None


@pytest.mark.parametrize("text", [FRENCH, ENGLISH, INNOCENT["chinese"], INNOCENT["arabic"], INNOCENT["russian"]])
@pytest.mark.parametrize("read_as", ["latin-1", "cp1252"])
def test_utf8_that_was_read_as_something_else_is_warned_of(text: str, read_as: str) -> None:
    wrong = "".join(_read_wrongly(byte, read_as) for byte in text.encode())
    warning = judge(wrong)
    assert warning is not None
    assert "a.file was probably stored in a wrong encoding" in warning


def _read_wrongly(byte: int, encoding: str) -> str:
    try:
        return bytes([byte]).decode(encoding)
    except UnicodeDecodeError:
        return chr(byte)


def test_russian_read_as_windows_1251_is_warned_of() -> None:
    assert "'о'" in (judge("Хорошо, что это слово понятно".encode().decode("cp1251", "ignore")) or "")


def test_one_word_is_enough_in_a_short_text() -> None:
    assert "'Ã©' stands for 'é'" in (judge("The cafÃ© opens at nine.") or "")


def test_a_spoilt_part_of_a_longer_text_is_warned_of() -> None:
    spoilt = "Le cafÃ© est ouvert, la crÃ¨me est fraÃ®che, les Å“ufs et le pÃ¢tÃ© sont prÃªts. " * 3
    assert judge(FRENCH * 10 + spoilt) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Total (cid:12)(cid:7)(cid:33) of (cid:12)(cid:5)(cid:80)(cid:81) euros",
        "\ue012\ue034\ue055\ue023 \ue061\ue011\ue02a\ue02b 12 \ue012\ue034 and",
    ],
)
def test_glyphs_that_are_no_letters_are_warned_of(text: str) -> None:
    assert "signs of a.file are no letters" in (judge(text, FileKind.PDF) or "")


def test_lost_letters_of_a_pdf_are_warned_of_and_those_of_a_text_were_before() -> None:
    text = "The \ufffd\ufffd\ufffd\ufffd of 2024 was \ufffd\ufffd\ufffd"
    assert "7 of 19 signs" in (judge(text, FileKind.PDF) or "")
    assert judge(text, FileKind.TEXT) is None


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("", FileKind.PDF, "it holds pictures only on its 3 pages"),
        ("\x0c\n \x0c", FileKind.PDF, "run OCR over it"),
        ("", FileKind.DOCX, "it holds pictures only"),
        ("\ufffd\ufffd \ufffd", FileKind.PDF, "its fonts do not say which letters"),
        ("... --- ***", FileKind.MARKDOWN, "check the file and send it again"),
    ],
)
def test_no_text_at_all_is_refused(text: str, kind: FileKind, why: str) -> None:
    with pytest.raises(RagstoneError, match=r"no text was found in a\.file") as caught:
        judge(text, kind, 3)
    assert caught.value.code == ErrorCode.DOCUMENT_EMPTY
    assert why in caught.value.detail


@pytest.mark.parametrize(("text", "pages"), [("CamScanner " * 9, 9), ("7", 1), ("page", 1)])
def test_too_little_text_for_its_pages_is_warned_of(text: str, pages: int) -> None:
    assert "letters were found on" in (judge(text, FileKind.PDF, pages) or "")


@pytest.mark.parametrize(("text", "pages"), [("A title of a slide\n" * 9, 9), ("Closed today", 1), ("a " * 400, 20)])
def test_slides_and_short_notices_are_enough(text: str, pages: int) -> None:
    assert judge(text, FileKind.PPTX, pages) is None


def test_bytes_that_are_no_text_are_warned_of() -> None:
    dice = random.Random(7)
    noise = "".join(chr(dice.randrange(1, 256)) for _ in range(3000))
    assert judge(noise) is not None
    assert "hardly any words" in (judge("a1 " + "§$%&/()=?*+~#<>|^°" * 9) or "")


@given(st.text(min_size=1))
def test_any_text_is_judged_or_refused(text: str) -> None:
    if any(map(str.isalnum, text)):
        judge(text, FileKind.PDF, 1)
    else:
        with pytest.raises(RagstoneError, match="no text was found"):
            judge(text, FileKind.PDF, 1)


@given(st.text(st.characters(max_codepoint=0x7E, min_codepoint=0x20), min_size=1))
def test_letters_of_english_are_never_mojibake(text: str) -> None:
    assert "wrong encoding" not in (judge("a" + text) or "")


def test_a_long_text_is_looked_at_in_part() -> None:
    spoilt = "Le cafÃ© est ouvert, la crÃ¨me est fraÃ®che. " * 100
    assert "a.file (looked at in part) was probably" in (judge(spoilt + ENGLISH * 4000 + spoilt * 30) or "")
    assert judge(ENGLISH * 4000) is None


QUOTES_ONE = "fixing-column-encoding-with-ftfy-and-sqlite-transform.md"
"""A note about this very fault, which shows one such sign."""


def test_two_real_sites_are_innocent() -> None:
    if not DATA.exists():
        pytest.skip("the sample data are not beside this checkout")
    pages = [page for site in ("18f-handbook", "simonw-til") for page in (DATA / "site" / site).rglob("*.md")]
    warned = [page.name for page in pages if judged(page.read_text("utf-8", "replace"), "a.md", FileKind.MARKDOWN)]
    assert set(warned) <= {QUOTES_ONE}
    assert len(pages) > 300
