"""Files to text: encodings, front matter, HTML, JSON, and clear words for what cannot be read."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted, describe, title_of
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

CASES = Path(__file__).parents[4] / "shared" / "cases" / "files"
REAL_FILES = Path(__file__).parents[4] / "shared" / "data" / "files"

MENU = (
    "Canteen notice – autumn term\n\nThe café “Le Chêne” charges €4.50 for the daily soup.\n"
    "It’s closed on public holidays — including 2 November.\n"
)


def parse(data: bytes | str, filename: str, media_type: str = "application/octet-stream") -> Extracted:
    raw = data.encode() if isinstance(data, str) else data
    return FileParsers(1_000_000, TimeUp).parse(incoming("doc", filename=filename, media_type=media_type), raw)


def test_a_windows_text_keeps_its_letters() -> None:
    found = parse(MENU.encode("cp1252"), "menu.txt")
    assert found.text == MENU
    assert "read as Windows-1252" in (found.warning or "")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Příliš žluťoučký kůň úpěl ďábelské ódy. Česká republika leží ve střední Evropě.", "cp1250"),
        ("Zażółć gęślą jaźń. Polska jest krajem w Europie, który ma wiele rzek i gór.", "cp1250"),
        ("Привет, это обычный русский текст в старой кодировке. Мы проверяем чтение.", "cp1251"),
        ("Привет, это обычный русский текст в старой кодировке. Мы проверяем чтение.", "koi8-r"),
        ("Καλημέρα, αυτό είναι ένα ελληνικό κείμενο σε παλιά κωδικοποίηση.", "cp1253"),
        ("Die Größe der Brücke überrascht. Straße, Öl und „Anführung“ für 5 €.", "cp1252"),
        ("L’été à la plage, c’est « génial » — n’est-ce pas ?", "cp1252"),
        ("El año señala mañana: ¿qué tal? ¡Olé!", "cp1252"),
        ("你好，这是一个用旧编码保存的中文文本文件，我们要检查读取。", "gb18030"),
        ("これは古い文字コードで保存された日本語のテキストです。", "euc-jp"),
        ("안녕하세요 이것은 한국어 텍스트입니다 오래된 인코딩으로 저장되었습니다", "euc-kr"),
        ("UTF-16 without any mark at its beginning", "utf-16-le"),
        ("UTF-16 with a mark: café", "utf-16"),
        ("UTF-32 with a mark: café", "utf-32"),
        ("UTF-8 with a mark: café", "utf-8-sig"),
    ],
)
def test_legacy_encodings_are_read_right(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt").text == text


def _any_text(char: str) -> bool:
    return unicodedata.category(char) not in {"Cc", "Cs"} and char != "\ufeff"


@settings(max_examples=1000, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]).filter(_any_text), min_size=1, max_size=20))
@example("Señal nº 7")
@example("café")
def test_valid_utf8_is_always_read_as_utf8(text: str) -> None:
    assert decode(text.encode(), "a.txt").text == text


def test_the_encoding_case_files() -> None:
    if not CASES.exists():
        pytest.skip("the case files are not beside this checkout")
    assert parse((CASES / "p01_cp1252_menu.txt").read_bytes(), "menu.txt").text == MENU
    for name in ("p04_short_utf8.txt", "p04_short_utf8_b.txt"):
        data = (CASES / name).read_bytes()
        assert parse(data, name).text.encode() == data


def test_real_files_hold_what_they_should() -> None:
    if not REAL_FILES.exists():
        pytest.skip("the sample files are not beside this checkout")
    expectations = [json.loads(line) for line in (REAL_FILES / "files.jsonl").read_text().splitlines()]
    ours = [one for one in expectations if one["kind"] in ("html", "txt", "md") and one["expect"] == "ok"]
    for one in ours:
        words = " ".join(parse((REAL_FILES / one["file"]).read_bytes(), one["file"]).text.split())
        assert [part for part in one["contains"] if part not in words] == [], one["file"]
        assert [part for part in one["better_without"] if part in words] == [], one["file"]
    assert len(ours) > 5


@pytest.mark.parametrize(("name", "data"), [("scan.txt", b"\x0c\n \x0c"), ("dots.md", b"... --- ***"), ("e.txt", b"")])
def test_a_file_without_words_says_so(name: str, data: bytes) -> None:
    with pytest.raises(RagstoneError, match=f"no text was found in {name}") as caught:
        parse(data, name)
    assert caught.value.code == ErrorCode.DOCUMENT_EMPTY


@pytest.mark.parametrize(("name", "media"), [("a.mp3", "audio/mpeg"), ("b.exe", "text/plain"), ("noext", "")])
def test_an_unsupported_kind_names_the_kinds_that_work(name: str, media: str) -> None:
    with pytest.raises(RagstoneError, match=r"Markdown \(.md\), plain text") as caught:
        parse(b"whatever", name, media)
    assert caught.value.code == ErrorCode.UNSUPPORTED_MEDIA_TYPE
    assert name in caught.value.detail


@pytest.mark.parametrize("data", [b"%PDF-1.7 text", b"PK\x03\x04zip", b"abc\x00\x01\x02def", b"\xff\xfe\x00"])
def test_binary_files_under_a_text_name_are_refused(data: bytes) -> None:
    with pytest.raises(RagstoneError, match=r"page\.txt cannot be read") as caught:
        parse(data, "page.txt")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


def test_a_file_over_the_limit_says_how_large_it_may_be() -> None:
    with pytest.raises(RagstoneError, match="the limit is 1,000,000"):
        parse(b"x" * 1_000_001, "big.txt")


def test_letters_that_were_lost_before_are_not_passed_on_silently() -> None:
    assert "U+FFFD" in (parse("caf\ufffd", "a.txt").warning or "")


def test_front_matter_describes_and_is_no_text() -> None:
    found = parse(
        "\ufeff---\r\ntitle: Ann\r\ntype: about\r\ntags: [a, b]\r\nsource: https://x.example\r\ndate: 2026-02-20\r\n"
        "questions:\r\n  - Who?\r\nnot:\r\n  - Ann has never flown.\r\n---\r\n# Who Ann is\r\n\r\nAnn sails.\r\n",
        "ann.md",
    )
    assert found.text == "# Who Ann is\n\nAnn sails.\n\n## Not the case\n\nAnn has never flown.\n"
    assert (found.title, found.type, found.tags, found.source) == ("Ann", "about", ["a", "b"], "https://x.example")
    assert found.metadata == {"date": "2026-02-20", "questions": ["Who?"]}
    assert [found.text[start:end] for start, end in found.negatives] == ["Ann has never flown."]


@pytest.mark.parametrize(
    "front", ["title: a: b: c", "- just\n- a list", "key: [unclosed", "x: &a [*a, !!python/none ]"]
)
def test_front_matter_that_is_none_stays_in_the_text_with_a_warning(front: str) -> None:
    text = f"---\n{front}\n---\nBody.\n"
    found = parse(text, "a.md")
    assert found.text == text
    assert "a.md" in (found.warning or "")


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    found = parse("---\n\nJust text after a rule.\n", "a.md")
    assert "Just text" in found.text
    assert found.warning is None


def test_the_sender_wins_over_the_document() -> None:
    extracted = parse("---\ntitle: Own\ntags: [own]\ntype: own\nmood: calm\n---\nText.\n", "a.md")
    sent = incoming("doc", title="Sent", tags=[], metadata={"mood": "brisk"})
    found = describe(sent, VersionId("v"), extracted, [])
    assert (found.title, found.tags, found.type, found.metadata) == ("Sent", [], "own", {"mood": "brisk"})


@pytest.mark.parametrize(
    ("text", "filename", "title"),
    [("# First heading\n\nText.", "a.md", "First heading"), ("Text.\n\n# Later", "our_hours.md", "Our hours"),
     ("Text.", None, "doc")],
)  # fmt: skip
def test_the_title_is_found_somewhere(text: str, filename: str | None, title: str) -> None:
    sent = incoming("doc", filename=filename, media_type="text/markdown")
    assert title_of(sent, FileParsers(1000, TimeUp).parse(sent, text.encode())) == title


PAGE = """<html lang="en"><head><title>Prices | Shop</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/x">Imprint</a></li></ul></nav>
<main><h1>Prices</h1><p>The soup costs four euros and comes with bread from the bakery next door.</p>
<h2>Deliveries</h2><p>We deliver on Fridays within ten kilometres of the market square.</p>
<table><caption>Sizes</caption><tr><th>Size</th><th>Price</th></tr><tr><td>Small</td><td>3</td></tr></table></main>
<footer>All rights reserved.</footer><script>var secret = 1;</script></body></html>"""


def test_html_is_its_content_with_headings_and_tables() -> None:
    found = parse(PAGE, "p.html")
    assert found.title == "Prices | Shop"
    assert found.language == "en"
    assert "# Prices" in found.text
    assert "## Deliveries" in found.text
    assert "| Size | Price |\n|---|---|\n| Small | 3 |" in found.text
    assert not any(word in found.text for word in ("Imprint", "secret", "rights reserved"))


def test_html_that_is_no_article_keeps_all_its_words() -> None:
    found = parse("<body><h2>Open</h2><div>Mon<br>Tue</div><script>x=1</script></body>", "p.html")
    assert [word for word in ("Open", "Mon", "Tue") if word not in found.text] == []
    assert "x=1" not in found.text


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252"])
def test_html_charset_from_meta(charset: str) -> None:
    page = f"<html><head><meta charset={charset}><title>Menü</title></head><body><p>Käse für später.</p></body></html>"
    assert "Käse für später." in parse(page.encode(charset), "p.html").text


def test_a_json_object_with_text_describes_itself() -> None:
    record = {"title": "T", "text": "# H\r\n\r\nBody.", "type": "faq", "tags": ["x"], "source": "s", "price": 3}
    found = parse(json.dumps(record), "a.json")
    assert found.text == "# H\n\nBody.\n\nprice: 3"
    assert (found.title, found.type, found.tags, found.source) == ("T", "faq", ["x"], "s")


def test_each_json_record_is_a_section() -> None:
    records = [{"title": "One", "text": "First."}, {"id": "two", "text": "Second."}, {"text": "Third."}]
    expected = "# One\n\nFirst.\n\n# two\n\nSecond.\n\n# Item 3\n\nThird.\n"
    assert parse(json.dumps(records), "a.json").text == expected
    assert parse("\n".join(json.dumps(one) for one in records), "a.jsonl").text == expected


def test_other_json_is_lines_of_paths_and_values() -> None:
    found = parse('{"a": {"b": [1, {"c": true}]}, "d": "x", "e": null}', "a.json")
    assert found.text == "a.b[0]: 1\na.b[1].c: true\nd: x"
    assert found.markdown is False


@pytest.mark.parametrize("text", ['{"a": ', "[" * 100_000, '"\\ud800"'])
def test_broken_json_says_where(text: str) -> None:
    with pytest.raises(RagstoneError, match=r"a\.json cannot be read: it is not valid JSON") as caught:
        parse(text, "a.json")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


def test_a_bad_ndjson_line_is_left_out_with_a_warning() -> None:
    found = parse('{"text": "Good."}\nnot json\n', "a.ndjson")
    assert "Good." in found.text
    assert "line 2" in (found.warning or "")
